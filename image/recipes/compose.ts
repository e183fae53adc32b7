/** Writes the compose file and the list of settings of a recipe. */
import { stringify } from 'yaml'
import { CONTAINER_USER } from '../containers/container-config.ts'
import { type ComponentName, COMPONENTS } from './components.ts'
import {
  foldersOf,
  type ServiceAddresses,
  type Recipe,
  RECIPES,
  type RecipeFolder,
  type RecipeName,
  type RecipeSetting,
  settingsOf,
} from './deployments.ts'

/** The network of a deployment. Central takes the addresses of browsers from web, and web has one in here. */
const NETWORK = '${SERVICE_NETWORK:-172.30.230.0/24}'
const LOOPBACK = '127.0.0.1'

const isOnHost = (component: ComponentName): boolean => COMPONENTS[component].hostNetwork

/** Components on the host's network reach the others at ports that these publish to the host's loopback. */
const CONTAINERS: ServiceAddresses = {
  hostOf: (component, asked) => (isOnHost(component) ? LOOPBACK : asked),
  portOf: (_component, asked) => String(COMPONENTS[asked].port),
  proxies: NETWORK,
}

/** Rotation of what a container writes to its log: at most 50 MB each. */
const LOGGING = { driver: 'json-file', options: { 'max-size': '10m', 'max-file': '5' } }

const quoted = (reason: string): string => reason.replaceAll(/[{}$]/g, '')

/** @returns null for a setting that is passed on when the site has set it */
function valueOf(recipe: Recipe, name: string, setting: RecipeSetting): string | null {
  if ('value' in setting) return setting.value
  // Compose demands the variables of every profile, also of those that are not chosen; the process itself refuses to start.
  if ('required' in setting && !isRequiredOfAll(recipe, name)) return null
  if ('required' in setting) return `\${${name}:?${quoted(setting.required)}}`
  return setting.fallback === undefined ? null : `\${${name}:-${setting.fallback}}`
}

const isRequiredOfAll = (recipe: Recipe, variable: string): boolean =>
  recipe.services.every(({ component, profile }) => profile === undefined || requiredOf(recipe, [component]).has(variable))

function volumeOf(folder: RecipeFolder): string {
  const end = folder.isReadOnly ? ':ro' : ''
  if ('volume' in folder) return `${folder.volume}:${folder.path}${end}`
  if ('required' in folder) return `\${${folder.from}:?${quoted(folder.required)}}:${folder.path}${end}`
  // Without a folder of the site an empty volume is there.
  return `\${${folder.from}:-${folder.fallback ?? emptyVolumeOf(folder)}}:${folder.path}${end}`
}

const emptyVolumeOf = ({ path }: RecipeFolder): string => path.slice(1)

/** Folders of the site that the component uses only when they are named. */
const optionalOf = (folder: RecipeFolder): boolean => 'fallback' in folder && folder.fallback === undefined

function portsOf(recipe: Recipe, component: ComponentName): string[] {
  const { port, hostNetwork } = COMPONENTS[component]
  if (hostNetwork) return []
  if (component === 'web') return [`\${SERVICE_WEB_BIND:-0.0.0.0}:\${SERVICE_WEB_PORT:-3000}:${port}`]
  // Edges reach the broker where the site decides, by default nobody beyond this machine.
  if (component === 'mqtt') return [`\${SERVICE_MQTT_BIND:-${LOOPBACK}}:\${SERVICE_MQTT_PORT:-8883}:${port}`]
  const isAskedFromHost = component === 'central' && recipe.services.some(one => isOnHost(one.component))
  return isAskedFromHost || component === 'haystack' ? [`${LOOPBACK}:${port}:${port}`] : []
}

function serviceOf(recipe: Recipe, component: ComponentName, profile: string | undefined): object {
  const folders = foldersOf(recipe, component)
  const settings = [...settingsOf(recipe, component, CONTAINERS)].map(([name, setting]) => [name, valueOf(recipe, name, setting)])
  const named = folders.filter(optionalOf).map(({ variable, path }) => [variable, `\${${variable}:+${path}}`])
  const earlier = recipe.services.map(one => one.component)
  const after = profile === undefined ? earlier.slice(0, earlier.indexOf(component)) : []
  return {
    image: `\${SERVICE_IMAGE_REGISTRY:?registry of the images, as registry.example/plenum}/${component}:\${SERVICE_IMAGE_TAG:-nightly}`,
    ...(recipe.platforms.length === 1 && { platform: recipe.platforms[0] }),
    ...(profile !== undefined && { profiles: [profile], container_name: 'plenum-edge' }),
    user: CONTAINER_USER,
    init: true,
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    pids_limit: 256,
    tmpfs: ['/tmp:size=256m,mode=1777,noexec,nosuid,nodev'],
    ...(isOnHost(component) && { network_mode: 'host' }),
    ...(portsOf(recipe, component).length > 0 && { ports: portsOf(recipe, component) }),
    ...(folders.length > 0 && { volumes: folders.map(volumeOf) }),
    environment: Object.fromEntries([...settings, ...named]),
    ...(after.length > 0 && { depends_on: Object.fromEntries(after.map(one => [one, { condition: startedWhen(one) }])) }),
    restart: 'unless-stopped',
    stop_grace_period: '15s',
    logging: LOGGING,
  }
}

/** Pages are there when the controllers do not answer. */
const startedWhen = (component: ComponentName): string =>
  component === 'central' || component === 'mqtt' ? 'service_healthy' : 'service_started'

/** @returns the text of `<recipe>.yaml` */
export function composeFile(name: RecipeName): string {
  const recipe = RECIPES[name]
  const all = recipe.services.flatMap(({ component }) => foldersOf(recipe, component))
  const volumes = all.flatMap(folder =>
    'volume' in folder ? [folder.volume] : optionalOf(folder) ? [emptyVolumeOf(folder)] : [],
  )
  const hasNetwork = recipe.services.some(({ component }) => !isOnHost(component))
  const body = {
    name: `plenum-${name}`,
    services: Object.fromEntries(
      recipe.services.map(({ component, profile }) => [component, serviceOf(recipe, component, profile)]),
    ),
    ...(hasNetwork && { networks: { default: { ipam: { config: [{ subnet: NETWORK }] } } } }),
    ...(volumes.length > 0 && { volumes: Object.fromEntries([...new Set(volumes)].map(volume => [volume, null])) }),
  }
  const head = [
    `${recipe.about}.`,
    `docker compose -f ${name}.yaml --env-file ${name}.env up -d; ${name}.env.example lists the settings.`,
    'Written by scripts/recipes.ts from image/recipes/deployments.ts; change it there.',
  ]
  return `${head.map(line => `# ${line}\n`).join('')}${stringify(body, { lineWidth: 0, nullStr: '', aliasDuplicateObjects: false })}`
}

/** @returns the text of `<recipe>.env.example`: what a site sets, the required settings first */
export function settingsFile(name: RecipeName): string {
  const recipe = RECIPES[name]
  const required = new Map([
    ['SERVICE_IMAGE_REGISTRY', 'registry of the images, as registry.example/plenum; not needed by scripts/up'],
    ...requiredOf(recipe),
  ])
  const optional = new Map([
    ['SERVICE_IMAGE_TAG', 'nightly; sha-<7 hex> of a build is better, because it stays; all images have the same'],
  ])
  for (const { component } of recipe.services) {
    const { env } = COMPONENTS[component]
    for (const [variable, setting] of settingsOf(recipe, component, CONTAINERS))
      if ('fallback' in setting && !required.has(variable))
        optional.set(variable, docOf(env[variable]!.doc, setting.fallback ?? env[variable]!.default))
    for (const folder of foldersOf(recipe, component))
      if ('fallback' in folder) optional.set(folder.from, docOf(env[folder.variable]!.doc, folder.fallback))
    if (component === 'web') {
      optional.set('SERVICE_WEB_BIND', 'address of this machine at which pages are served [0.0.0.0]')
      optional.set('SERVICE_WEB_PORT', 'port of the same [3000]')
    }
    if (component === 'mqtt') {
      optional.set('SERVICE_MQTT_BIND', 'address of this machine at which edges reach the broker [127.0.0.1]')
      optional.set('SERVICE_MQTT_PORT', 'port of the same [8883]')
    }
  }
  const lines = ([variable, doc]: [string, string], prefix: string) => `# ${doc}\n${prefix}${variable}=\n`
  return [
    `# Settings of the recipe ${name}, for docker compose and scripts/up. Copy to ${name}.env with permissions 600.\n`,
    ...[...required].map(one => lines(one, '')),
    '# ---- Not required. The default is in brackets.\n',
    ...[...optional].map(one => lines(one, '#')),
  ].join('\n')
}

const docOf = (doc: string, value: string | number | boolean | undefined): string => {
  const text = doc.replaceAll('\n', ' ')
  return value === undefined || value === '' ? text : `${text} [${value === true ? '1' : value === false ? '0' : value}]`
}

/** @returns the variables that a site must set, with what they are */
export function requiredOf(recipe: Recipe, components = recipe.services.map(one => one.component)): Map<string, string> {
  const required = new Map<string, string>()
  for (const component of components) {
    for (const [variable, setting] of settingsOf(recipe, component, CONTAINERS))
      if ('required' in setting) required.set(variable, setting.required)
    for (const folder of foldersOf(recipe, component)) if ('required' in folder) required.set(folder.from, folder.required)
  }
  return required
}
