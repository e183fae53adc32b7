/** From a recipe and the settings of a site to the processes that are started, in order. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { type ComponentName, COMPONENTS } from '#image/recipes/components.ts'
import { foldersOf, type ServiceAddresses, type Recipe, RECIPES, settingsOf } from '#image/recipes/deployments.ts'
import { requiredOf } from '#image/recipes/compose.ts'
import { readEnv } from '#shared/core/env.ts'
import { errorText } from '#shared/core/error-text.ts'
import { readVersion } from '#shared/node/version.ts'
import { UpError } from './exit.ts'
import type { UpOptions } from './up-options.ts'

export type PlannedPart = {
  component: ComponentName
  main: string
  env: Record<string, string>
  /** Where it listens: on this address, and as this machine reaches it. */
  bind: string
  port: number
  url: string
  /** What its health is asked of: an address or a file. */
  probe: string
}
export type Plan = {
  recipe: string
  version: string
  data: string
  parts: PlannedPart[]
  /** Names in the file of settings that no part of the recipe has. */
  unknown: string[]
}

const LOOPBACK = '127.0.0.1'
type Environment = Record<string, string | undefined>

/** @throws UpError that names every setting that is missing, or else every one that is wrong, or the file that cannot be read */
export function planOf({ recipe: name, profile, data, envFile, portBase }: UpOptions, environment: Environment): Plan {
  const recipe = RECIPES[name]
  const file = readSettings(envFile)
  const given: Environment = { ...file, ...withoutEmpty(environment) }
  const components = recipe.services.filter(one => one.profile === profile).map(({ component }) => component)
  const missing = [...requiredOf(recipe, components)].filter(([variable]) => !given[variable] && !given[`${variable}_FILE`])
  if (missing.length > 0) {
    const lines = missing.map(([variable, hint]) => `  ${variable}: ${hint}`)
    throw new UpError('configuration', `Settings of the recipe ${name} are missing:\n${lines.join('\n')}`)
  }
  const portOf = portsFor(given, portBase)
  const addresses: ServiceAddresses = {
    hostOf: (_component, asked) => hostOf(bindOf(asked, given)),
    portOf: (_component, asked) => portOf(asked),
    proxies: LOOPBACK,
  }
  const parts = components.map(component => partOf(component, { recipe, addresses, given, data, port: portOf(component) }))
  const wrong = new Set(parts.flatMap(complaintsOf))
  if (wrong.size > 0)
    throw new UpError(
      'configuration',
      `Settings of the recipe ${name} are wrong:\n${[...wrong].map(one => `  ${one}`).join('\n')}`,
    )
  const known = namesOf(recipe, addresses)
  const unknown = Object.keys(file).filter(variable => !known.has(variable.replace(/_FILE$/, '')))
  return { recipe: name, version: versionHere(), data, parts, unknown }
}

/** @throws UpError where neither a file nor git says it */
function versionHere(): string {
  try {
    return readVersion()
  } catch (error) {
    throw new UpError('configuration', errorText(error))
  }
}

/** What the part itself would say, before anything is started. */
function complaintsOf({ component, env }: PlannedPart): string[] {
  const read = readEnv(COMPONENTS[component].env, { env }, path => readFileSync(path, 'utf8'))
  return read.ok ? [] : read.complaints
}

/** Every name that a file of settings of this recipe may have, whatever its profile. */
function namesOf(recipe: Recipe, addresses: ServiceAddresses): Set<string> {
  const names = ['SERVICE_IMAGE_REGISTRY', 'SERVICE_IMAGE_TAG', 'SERVICE_NETWORK']
  for (const { component } of recipe.services) {
    names.push(...settingsOf(recipe, component, addresses).keys(), ...Object.values(COMPONENTS[component].listen))
    names.push(...foldersOf(recipe, component).flatMap(folder => ('from' in folder ? folder.from : [])))
  }
  return new Set(names)
}

function readSettings(path: string | undefined): Environment {
  if (path === undefined) return {}
  try {
    return withoutEmpty(parseEnv(readFileSync(path, 'utf8')))
  } catch (error) {
    throw new UpError('configuration', `--env-file: ${errorText(error)}`)
  }
}

/** A variable without a value is not set. */
const withoutEmpty = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([, value]) => value))

/** Ports of the specification's compositions on one host: web is at 3000 there, because central has 8080. */
const PORTS: Partial<Record<ComponentName, { offset: number; port: number }>> = {
  web: { offset: 0, port: 3000 },
  central: { offset: 1, port: 8080 },
  mqtt: { offset: 2, port: 8883 },
}
const CONNECTOR = { offset: 3, port: 8090 }

function portsFor(given: Environment, portBase: number | undefined): (component: ComponentName) => string {
  return component => {
    const { offset, port } = PORTS[component] ?? CONNECTOR
    if (portBase !== undefined) return String(portBase + offset)
    return given[COMPONENTS[component].listen.port] ?? String(port)
  }
}

type PartContext = { recipe: Recipe; addresses: ServiceAddresses; given: Environment; data: string; port: string }

function partOf(component: ComponentName, { recipe, addresses, given, data, port }: PartContext): PlannedPart {
  const { main, listen, probe, folders } = COMPONENTS[component]
  const env: Record<string, string> = {}
  for (const [name, setting] of settingsOf(recipe, component, addresses)) {
    const fallback = 'value' in setting ? setting.value : 'fallback' in setting ? setting.fallback : undefined
    const value = 'value' in setting ? setting.value : (given[name] ?? fallback)
    if (value !== undefined) env[name] = value
    else if (given[`${name}_FILE`]) env[`${name}_FILE`] = resolve(given[`${name}_FILE`]!)
  }
  for (const folder of foldersOf(recipe, component)) {
    if ('volume' in folder) env[folder.variable] = join(data, folder.volume)
    else if (given[folder.from]) env[folder.variable] = resolve(given[folder.from]!)
    else if ('fallback' in folder && folder.fallback !== undefined) env[folder.variable] = join(data, folder.fallback)
  }
  const bind = bindOf(component, given)
  if (listen.bind !== undefined) env[listen.bind] = bind
  env[listen.port] = port
  const scheme = component === 'mqtt' ? 'mqtts' : folders['SERVICE_TLS_DIR'] && env['SERVICE_TLS_DIR'] ? 'https' : 'http'
  const url = `${scheme}://${hostOf(bind)}:${port}`
  const part = { component, main, env, bind, port: Number(port), url }
  if ('path' in probe) return { ...part, probe: `${url}${probe.path}` }
  const heartbeat = join(data, 'run', `${component}.alive`)
  return { ...part, env: { ...env, SERVICE_HEARTBEAT_FILE: heartbeat }, probe: heartbeat }
}

/** Where this machine reaches what listens on an address. */
const hostOf = (bind: string): string => (bind === '0.0.0.0' ? LOOPBACK : bind)

/** Web and broker may be opened to others; central and connectors stay on this machine. */
const bindOf = (component: ComponentName, given: Environment): string =>
  (component === 'web' || component === 'mqtt' ? given[COMPONENTS[component].listen.bind!] : undefined) ?? LOOPBACK
