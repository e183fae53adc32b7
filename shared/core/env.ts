/**
 * Environment variables as data: one table makes the check at start-up, the help text, the README's table and
 * `GET /api/config/effective`.
 */
type Base = { doc: string; secret?: true }
export type Variable =
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

export type Source = 'environment' | 'file' | 'default'
export type Effective = { name: string; value: string; source: Source; doc: string }
export type Environment = Record<string, string | undefined>

export type EnvResult<T extends VariableTable> =
  | { ok: true; settings: Settings<T>; effective: Effective[] }
  | { ok: false; complaints: string[] }

/**
 * Reads and checks every variable of a table. A variable `X` may instead be given as `X_FILE`, the path of a file that
 * holds it; the environment wins.
 *
 * @param readFile reads such a file; throws with a reason when it cannot
 * @returns the settings, or all complaints at once
 */
export function readEnv<T extends VariableTable>(table: T, env: Environment, readFile: (path: string) => string): EnvResult<T> {
  const complaints: string[] = []
  const effective: Effective[] = []
  const settings: Record<string, unknown> = {}
  for (const [name, variable] of Object.entries(table)) {
    const { text, source } = lookUp(name, env, readFile, complaints)
    const value = text === undefined ? variable.default : check(name, variable, text, complaints)
    settings[name] = value
    const shown = value === undefined ? '' : value === true ? '1' : value === false ? '0' : String(value)
    effective.push({ name, value: variable.secret && shown ? '********' : shown, source, doc: variable.doc })
  }
  return complaints.length ? { ok: false, complaints } : { ok: true, settings: settings as Settings<T>, effective }
}

function lookUp(name: string, env: Environment, readFile: (path: string) => string, complaints: string[]) {
  const given = env[name]
  if (given !== undefined && given !== '') return { text: given, source: 'environment' as const }
  const path = env[`${name}_FILE`]
  if (path === undefined || path === '') return { text: undefined, source: 'default' as const }
  try {
    return { text: readFile(path).trim(), source: 'file' as const }
  } catch (error) {
    complaints.push(`${name}_FILE: ${(error as Error).message}`)
    return { text: undefined, source: 'file' as const }
  }
}

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
