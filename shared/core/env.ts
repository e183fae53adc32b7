import { errorText } from './error-text.ts'
/**
 * Environment variables as data: one table makes the check at start-up, the help text, the README's table and
 * `GET /api/config/effective`.
 */
type Base = { doc: string; secret?: true }
type Variable =
  | (Base & { kind: 'text'; default?: string; pattern?: RegExp; minLength?: number })
  | (Base & { kind: 'integer'; default?: number; min: number; max: number })
  | (Base & { kind: 'flag'; default: boolean })
  | (Base & { kind: 'choice'; choices: readonly string[]; default: string })

export type VariableTable = Record<string, Variable>

type ValueOf<V extends Variable> = V extends { kind: 'flag' }
  ? boolean
  : V extends { kind: 'integer' }
    ? V extends { default: number }
      ? number
      : number | undefined
    : V extends { default: string }
      ? string
      : string | undefined
export type Settings<T extends VariableTable> = { [K in keyof T]: ValueOf<T[K]> }

/** Source of a value, the first that has it: `file` is the one that `X_FILE` names, for secrets. */
export const SOURCES = ['command line', 'environment', 'file', 'auth.env.local', 'settings file', 'default'] as const
type Source = (typeof SOURCES)[number]
export type Effective = { name: string; value: string; source: Source; doc: string }
/** What is shown in place of a secret. */
export const MASKED = '********'
export type Environment = Record<string, string | undefined>
/** The given settings, each with its source. */
export type Given = {
  env: Environment
  /** `--X=value` of the command line. */
  options?: Environment
  /** Secrets of a stack on one machine. It may contain variables of other processes; its own path is not in it. */
  authFile?: { path: string; text: string }
  settingsFile?: { path: string; text: string }
}

type EnvResult<T extends VariableTable> =
  | { ok: true; settings: Settings<T>; effective: Effective[] }
  | { ok: false; complaints: string[] }

/**
 * Reads and checks every variable of a table. A variable `X` is taken from the command line, else from the environment, else
 * from the file that `X_FILE` names, else from the file of secrets, else from the settings file.
 *
 * @param readFile reads the file of a variable; throws with a reason when it cannot
 * @returns the settings, or all complaints at once
 */
export function readEnv<T extends VariableTable>(table: T, given: Given, readFile: (path: string) => string): EnvResult<T> {
  const complaints: string[] = []
  const effective: Effective[] = []
  const settings: Record<string, unknown> = {}
  const { authFile, settingsFile } = given
  const lines = {
    auth: authFile ? settingsLines(table, authFile, complaints, OTHER_PROCESS) : {},
    settings: settingsFile ? settingsLines(table, settingsFile, complaints) : {},
  }
  for (const [name, option] of Object.entries(given.options ?? {})) {
    if (option !== undefined && table[name]?.secret) complaints.push(`${name}: a secret on the command line is seen by everybody`)
  }
  for (const [name, variable] of Object.entries(table)) {
    const { text, source } = lookUp(name, given, lines, readFile, complaints)
    const value = text === undefined ? variable.default : check(name, variable, text, complaints)
    settings[name] = value
    const shown = value === undefined ? '' : value === true ? '1' : value === false ? '0' : String(value)
    effective.push({ name, value: variable.secret && shown ? MASKED : shown, source, doc: variable.doc })
  }
  return complaints.length ? { ok: false, complaints } : { ok: true, settings: settings as Settings<T>, effective }
}

/** Names that another process of the product may know. */
const OTHER_PROCESS = /^SERVICE_/

/** Lines of `X=value`; empty ones and those that begin with `#` say nothing. @param passedOver names that the table may lack */
function settingsLines(
  table: VariableTable,
  { path, text }: { path: string; text: string },
  complaints: string[],
  passedOver?: RegExp,
): Environment {
  const found: Environment = {}
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue
    const [, name = '', value = ''] = /^\s*([A-Z][A-Z0-9_]*)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    const at = `${path}, line ${index + 1}`
    if (name === '') complaints.push(`${at}: is not NAME=value`)
    else if (!Object.hasOwn(table, name) && passedOver?.test(name)) continue
    else if (!Object.hasOwn(table, name)) complaints.push(`${at}: there is no variable ${name}`)
    else if (Object.hasOwn(found, name)) complaints.push(`${at}: ${name} is there twice`)
    else found[name] = value
  }
  return found
}

function lookUp(
  name: string,
  { env, options = {} }: Given,
  lines: { auth: Environment; settings: Environment },
  readFile: (path: string) => string,
  complaints: string[],
): { text: string | undefined; source: Source } {
  if (options[name]) return { text: options[name], source: 'command line' }
  if (env[name]) return { text: env[name], source: 'environment' }
  const path = env[`${name}_FILE`]
  if (path) {
    try {
      return { text: readFile(path).trim(), source: 'file' }
    } catch (error) {
      complaints.push(`${name}_FILE: ${errorText(error)}`)
      return { text: undefined, source: 'file' }
    }
  }
  if (lines.auth[name]) return { text: unquoted(lines.auth[name]), source: 'auth.env.local' }
  return lines.settings[name] ? { text: lines.settings[name], source: 'settings file' } : { text: undefined, source: 'default' }
}

/** Shells and compose files read such a file too, and take quotes around a value as no part of it. */
const unquoted = (text: string): string => /^(["'])(.*)\1$/.exec(text)?.[2] ?? text

function check(name: string, variable: Variable, text: string, complaints: string[]): string | number | boolean | undefined {
  const refuse = (reason: string) => {
    complaints.push(`${name}: ${reason}${variable.secret ? '' : `, not "${text}"`}`)
    return undefined
  }
  switch (variable.kind) {
    case 'flag':
      return text === '1' ? true : text === '0' ? false : refuse('takes 1 or 0')
    case 'integer': {
      const value = Number(text)
      const fits = /^-?\d+$/.test(text) && value >= variable.min && value <= variable.max
      return fits ? value : refuse(`takes a whole number from ${variable.min} to ${variable.max}`)
    }
    case 'choice':
      return variable.choices.includes(text) ? text : refuse(`takes one of ${variable.choices.join(', ')}`)
    case 'text': {
      if (variable.minLength && text.length < variable.minLength) return refuse(`takes at least ${variable.minLength} characters`)
      return variable.pattern && !variable.pattern.test(text) ? refuse(`does not fit ${variable.pattern.source}`) : text
    }
  }
}

/** The table in lines for `--help`. */
export function describeEnv(table: VariableTable): string {
  const width = Math.max(...Object.keys(table).map(name => name.length))
  return Object.entries(table)
    .map(([name, { doc, default: value }]) => {
      const shown = value === undefined ? '' : ` [${value === true ? '1' : value === false ? '0' : value}]`
      return `  ${name.padEnd(width)}  ${doc}${shown}`
    })
    .join('\n')
}
