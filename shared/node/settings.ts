import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  describeEnv,
  type Effective,
  type Environment,
  type Given,
  readEnv,
  type Settings,
  type VariableTable,
} from '#shared/core/env.ts'
import { errorText } from '#shared/core/error-text.ts'
import { secretArguments } from '#shared/node/auth/secret-arguments.ts'
import { keepFilesPrivate } from './private-files.ts'

/** sysexits.h EX_CONFIG: the configuration is wrong; starting again will not help. */
const EXIT_CONFIG = 78

/**
 * The first step of every main: makes files private and reads the settings. `--help` prints the table and exits 0; a wrong
 * configuration prints all errors and exits 78, before anything is opened.
 *
 * @param usage first line of the help
 * @param flags options of this main besides `--help`
 * @param complain checks that need more than one variable
 * @param isFileRead false where the file of settings is another program's, which this one only writes
 */
export function settingsOrExit<T extends VariableTable>(
  usage: string,
  table: T,
  env: Environment,
  argv: string[],
  {
    flags = [],
    complain = () => [],
    isFileRead = true,
  }: { flags?: string[]; complain?: (settings: Settings<T>) => string[]; isFileRead?: boolean } = {},
): { settings: Settings<T>; effective: Effective[] } {
  keepFilesPrivate()
  refuseSecretArguments(argv, name => table[name]?.secret === true)
  if (argv.includes('--help')) {
    process.stdout.write(`${usage}\n\nEnvironment:\n${describeEnv(table)}\n\n${PRECEDENCE}\n`)
    process.exit(0)
  }
  const options: Environment = {}
  const unknown: string[] = []
  for (const word of argv) {
    const [, name = '', value] = /^--([A-Z][A-Z0-9_]*)=(.*)$/s.exec(word) ?? []
    if (Object.hasOwn(table, name)) options[name] = value
    // The value may be a secret in the wrong place, so only the name is repeated.
    else if (!flags.includes(word)) unknown.push(`${word.split('=')[0]}: unknown option, see --help`)
  }
  const files = isFileRead ? settingsFileOf(table, env[SETTINGS_FILE]) : {}
  const given = { env, options, ...files, ...authFileOf(table, { env, options, ...files }) }
  const read = readEnv(table, given, readText)
  const complaints = [...unknown, ...(read.ok ? complain(read.settings) : read.complaints)]
  if (!read.ok || complaints.length) exitWith(complaints)
  return read
}

/** Names a file of settings. A settings file cannot contain it. */
const SETTINGS_FILE = 'SERVICE_SETTINGS_FILE'
/** File in the workspace for processes on one machine, readable by its owner only. */
const AUTH_FILE = 'auth.env.local'
const PRECEDENCE = `A value counts from the first of: --NAME=value (no secrets), the environment, the file that NAME_FILE names, a line
NAME=value of ${AUTH_FILE} in SERVICE_WORKSPACE (permissions 600), a line of the file that ${SETTINGS_FILE} names, the default
in brackets.`

const readText = (path: string): string => readFileSync(path, 'utf8')

/** Permissions of everyone but the owner; with any of them the file may hold no secret. */
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
    return exitWith([`${SETTINGS_FILE}: ${errorText(error)}`])
  }
}

/** Reads the file of secrets. Unknown names are ignored, because other processes of the machine use it as well. */
function authFileOf(table: VariableTable, given: Given): Pick<Given, 'authFile'> {
  const { SERVICE_WORKSPACE: workspace } = table
  if (!workspace || !Object.values(table).some(({ secret }) => secret)) return {}
  const path = join(workspaceOf(workspace, given), AUTH_FILE)
  try {
    const text = readText(path)
    if ((statSync(path).mode & OTHERS) !== 0) exitWith([`${path} holds secrets and others may read it: chmod 600`])
    return { authFile: { path, text } }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || (error as NodeJS.ErrnoException).code === 'ENOTDIR') return {}
    return exitWith([errorText(error)])
  }
}

function workspaceOf(variable: VariableTable[string], { env, options = {}, settingsFile }: Given): string {
  const read = readEnv({ SERVICE_WORKSPACE: variable }, { env, options }, readText)
  const [{ value, source }] = read.ok ? (read.effective as [Effective]) : [{ value: '', source: 'default' }]
  const [, line] = /^\s*SERVICE_WORKSPACE\s*=\s*(.*?)\s*$/m.exec(settingsFile?.text ?? '') ?? []
  return source === 'default' && line ? line : value
}

/** Ends the process when secrets were given as arguments. */
export function refuseSecretArguments(argv: readonly string[], isSecret?: (name: string) => boolean): void {
  const complaints = secretArguments(argv, isSecret)
  if (complaints.length) exitWith(complaints)
}

/** Ends the process because the configuration is wrong. */
export function exitWith(complaints: string[]): never {
  process.stderr.write(`The configuration is wrong:\n${complaints.map(complaint => `  ${complaint}\n`).join('')}`)
  process.exit(EXIT_CONFIG)
}
