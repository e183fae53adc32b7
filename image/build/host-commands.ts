/** Commands of this machine that the build runs. */
import { execFileSync } from 'node:child_process'
import { rmSync, mkdirSync } from 'node:fs'
import { errorText } from '#shared/core/error-text.ts'

const OUTPUT_MAX = 256 * 2 ** 20

type RunOptions = { cwd?: string; env?: Record<string, string>; input?: string | Buffer }

/**
 * Runs a command to its end.
 *
 * @returns its standard output
 * @throws Error with the command and the last lines of its error output
 */
export function run(command: string, args: readonly string[], { cwd, env, input }: RunOptions = {}): string {
  try {
    return execFileSync(command, args, {
      ...(cwd !== undefined && { cwd }),
      ...(input !== undefined && { input }),
      env: { ...process.env, LC_ALL: 'C.UTF-8', TZ: 'UTC', ...env },
      encoding: 'utf8',
      maxBuffer: OUTPUT_MAX,
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
  } catch (error) {
    const { stderr } = error as { stderr?: string }
    const words = stderr?.trim().split('\n').slice(-8).join('\n') ?? ''
    throw new Error(`${command} ${args.join(' ')}: ${words === '' ? errorText(error) : words}`, { cause: error })
  }
}

/** The search path without the project's own Node: npm trusts the certificates that the system's Node trusts. */
export const systemPath = (): string =>
  (process.env['PATH'] ?? '')
    .split(':')
    .filter(folder => !folder.endsWith('node_modules/.bin'))
    .join(':')

/** @returns the folder, empty */
export function emptyFolder(path: string): string {
  rmSync(path, { recursive: true, force: true })
  mkdirSync(path, { recursive: true })
  return path
}
