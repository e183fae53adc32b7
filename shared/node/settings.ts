import { readFileSync } from 'node:fs'
import { describeEnv, type Effective, type Environment, readEnv, type Settings, type VariableTable } from '#shared/core/env.ts'

/** sysexits.h EX_CONFIG: the configuration is wrong; starting again will not help. */
export const EXIT_CONFIG = 78

/**
 * What every main does first: `--help` prints its table and exits 0; wrong configuration prints all complaints at once
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
  if (argv.includes('--help')) {
    process.stdout.write(`${usage}\n\nEnvironment:\n${describeEnv(table)}\n`)
    process.exit(0)
  }
  const unknown = argv.filter(option => !flags.includes(option)).map(option => `${option}: unknown option, see --help`)
  const read = readEnv(table, env, path => readFileSync(path, 'utf8'))
  const complaints = [...unknown, ...(read.ok ? complain(read.settings) : read.complaints)]
  if (!read.ok || complaints.length) exitWith(complaints)
  return read
}

/** Ends a start whose configuration is wrong. */
export function exitWith(complaints: string[]): never {
  process.stderr.write(`The configuration is wrong:\n${complaints.map(complaint => `  ${complaint}\n`).join('')}`)
  process.exit(EXIT_CONFIG)
}
