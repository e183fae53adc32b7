import { readFileSync, statSync } from 'node:fs'
import {
  describeEnv,
  type Effective,
  type Environment,
  type Given,
  readEnv,
  type Settings,
  type VariableTable,
} from '#shared/core/env.ts'
import { keepFilesPrivate } from './private-files.ts'

/** sysexits.h EX_CONFIG: the configuration is wrong; starting again will not help. */
export const EXIT_CONFIG = 78

/**
 * What every main does first. From then on its files are its user's alone; `--help` prints its table and exits 0; wrong configuration prints all complaints at once
 * and exits 78, before anything is opened.
 *
 * @param usage first line of the help
 * @param flags options that this main takes besides `--help`
 * @param complain checks that need more than one variable
 */
export function settingsOrExit<T extends VariableTable>(
  usage: string,
  table: T,
  env: Environment,
  argv: string[],
  { flags = [], complain = () => [] }: { flags?: string[]; complain?: (settings: Settings<T>) => string[] } = {},
): { settings: Settings<T>; effective: Effective[] } {
  keepFilesPrivate()
  if (argv.includes('--help')) {
    process.stdout.write(`${usage}\n\nEnvironment:\n${describeEnv(table)}\n\n${PRECEDENCE}\n`)
    process.exit(0)
  }
  const options: Environment = {}
  const unknown: string[] = []
  for (const word of argv) {
    const [, name = '', value] = /^--([A-Z][A-Z0-9_]*)=(.*)$/.exec(word) ?? []
    if (Object.hasOwn(table, name)) options[name] = value
    else if (!flags.includes(word)) unknown.push(`${word}: unknown option, see --help`)
  }
  const given = { env, options, ...settingsFileOf(table, env[SETTINGS_FILE]) }
  const read = readEnv(table, given, path => readFileSync(path, 'utf8'))
  const complaints = [...unknown, ...(read.ok ? complain(read.settings) : read.complaints)]
  if (!read.ok || complaints.length) exitWith(complaints)
  return read
}

/** Names a file of settings; it cannot itself stand in one. */
const SETTINGS_FILE = 'SERVICE_SETTINGS_FILE'
const PRECEDENCE = `A value counts from the first of: --NAME=value, the environment, the file that NAME_FILE names, a line NAME=value of the file
that ${SETTINGS_FILE} names, the default in brackets.`

/** Everybody but its owner: such a file may hold no secret. */
const OTHERS = 0o077

function settingsFileOf(table: VariableTable, path: string | undefined): Pick<Given, 'settingsFile'> {
  if (!path) return {}
  try {
    const text = readFileSync(path, 'utf8')
    const secrets = Object.keys(table).filter(name => table[name]!.secret && new RegExp(`^\\s*${name}\\s*=`, 'm').test(text))
    if (secrets.length > 0 && (statSync(path).mode & OTHERS) !== 0) {
      exitWith([`${SETTINGS_FILE}: ${path} holds ${secrets.join(', ')} and others may read it: chmod 600`])
    }
    return { settingsFile: { path, text } }
  } catch (error) {
    return exitWith([`${SETTINGS_FILE}: ${(error as Error).message}`])
  }
}

/** Ends a start whose configuration is wrong. */
export function exitWith(complaints: string[]): never {
  process.stderr.write(`The configuration is wrong:\n${complaints.map(complaint => `  ${complaint}\n`).join('')}`)
  process.exit(EXIT_CONFIG)
}
