import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { RECIPE_NAMES, RECIPES, type RecipeName } from '#image/recipes/deployments.ts'
import { errorText } from '#shared/core/error-text.ts'

const COMMANDS = ['start', 'stop', 'status', 'upgrade'] as const
export type UpOptions = {
  recipe: RecipeName
  command: (typeof COMMANDS)[number]
  profile: string | undefined
  /** Absolute path of the folder that holds everything of the recipe. */
  data: string
  /** Absolute path of a file of NAME=value lines. */
  envFile: string | undefined
  /** First of four ports; undefined: those of the specification. */
  portBase: number | undefined
  json: boolean
}

const PORT_BASE = { min: 1024, max: 65_000 }

export const UP_USAGE = `usage: scripts/up RECIPE [start|stop|status|upgrade] [options]

${RECIPE_NAMES.map(name => `  ${name.padEnd(20)} ${RECIPES[name].about}`).join('\n')}

  --env-file FILE   settings as NAME=value lines; the environment counts before it. image/recipes/RECIPE.env.example lists them
  --profile NAME    which of the recipe's profiles runs (edge-split: bacnet_modbus or haystack)
  --data DIR        folder of its data and logs (default: plenum/RECIPE in XDG_DATA_HOME or ~/.local/share)
  --port-base N     N for web, N+1 central, N+2 broker, N+3 connector (default: 3000, 8080, 8883, 8090)
  --json            one line of JSON on standard output

Everything listens on loopback, except what SERVICE_WEB_BIND and SERVICE_MQTT_BIND open. Exit codes: 0 done, 1 a part is not
well, 2 usage, 3 refused, 4 not healthy in time, 78 a setting is missing or wrong.
`

/** @returns the options, `help`, or in words what is wrong with them */
export function readUpOptions(argv: string[], env: NodeJS.ProcessEnv): UpOptions | 'help' | { wrong: string } {
  const read = parse(argv)
  if ('wrong' in read) return read
  const { values, positionals } = read
  if (values.help) return 'help'
  const [name, word = 'start', ...more] = positionals
  const recipe = RECIPE_NAMES.find(one => one === name)
  if (recipe === undefined) return { wrong: name === undefined ? 'Name a recipe' : `There is no recipe ${name}` }
  const command = COMMANDS.find(one => one === word)
  if (command === undefined || more.length > 0) return { wrong: `There is no command ${[word, ...more].join(' ')}` }
  const isStarted = command === 'start' || command === 'upgrade'
  const profile = isStarted || values.profile !== undefined ? profileOf(recipe, values.profile) : undefined
  if (typeof profile === 'object') return profile
  const portBase = portBaseOf(values['port-base'])
  if (typeof portBase === 'object') return portBase
  const share = env['XDG_DATA_HOME'] || join(homedir(), '.local/share')
  return {
    recipe,
    command,
    profile,
    portBase,
    data: resolve(values.data ?? join(share, 'plenum', recipe)),
    envFile: values['env-file'] === undefined ? undefined : resolve(values['env-file']),
    json: values.json ?? false,
  }
}

function parse(argv: string[]) {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const options = { 'env-file': text, profile: text, data: text, 'port-base': text, json: flag, help: flag }
  try {
    return parseArgs({ args: argv, allowPositionals: true, options })
  } catch (error) {
    return { wrong: errorText(error).split('. ')[0]! }
  }
}

/** Profiles exclude each other: exactly one is chosen where a recipe has some, and none elsewhere. */
function profileOf(recipe: RecipeName, given: string | undefined): string | undefined | { wrong: string } {
  const profiles = RECIPES[recipe].services.flatMap(({ profile }) => profile ?? [])
  if (profiles.length === 0) return given === undefined ? undefined : { wrong: `The recipe ${recipe} has no profiles` }
  if (given !== undefined && profiles.includes(given)) return given
  return { wrong: `The recipe ${recipe} takes one profile: --profile ${profiles.join(' or --profile ')}` }
}

function portBaseOf(text: string | undefined): number | undefined | { wrong: string } {
  if (text === undefined) return undefined
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= PORT_BASE.min && value <= PORT_BASE.max) return value
  return { wrong: `--port-base takes a whole number from ${PORT_BASE.min} to ${PORT_BASE.max}` }
}
