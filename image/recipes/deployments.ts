/**
 * Which components run together in each deployment, and the settings that follow from it. `scripts/up` starts a recipe as
 * processes, `scripts/recipes.ts` writes its compose file; both take everything from here.
 *
 * @source specification, "Recipes (deployment shapes)" and "Deployment order"
 */
import { type ComponentName, COMPONENTS } from './components.ts'

type RecipeService = {
  component: ComponentName
  /** Runs only where this profile is chosen; of a recipe's profiles exactly one is. */
  profile?: string
}
export type Recipe = {
  about: string
  /** In the order in which they start: central, broker, connectors, and web last. */
  services: readonly RecipeService[]
  /** Processors of its images. */
  platforms: readonly string[]
}

const BOTH = ['linux/amd64', 'linux/arm64']
const of = (...components: ComponentName[]): RecipeService[] => components.map(component => ({ component }))

export const RECIPE_NAMES = [
  'hub',
  'ot-edge',
  'csv',
  'standalone',
  'central',
  'edge',
  'edge-split',
  'local-bacnet-modbus',
  'local-haystack',
] as const
export type RecipeName = (typeof RECIPE_NAMES)[number]

export const RECIPES: Readonly<Record<RecipeName, Recipe>> = {
  hub: {
    about: 'Recipe 1, cloud hub: edges on other sites send to it over MQTTS',
    services: of('central', 'mqtt', 'web'),
    platforms: ['linux/amd64'],
  },
  'ot-edge': {
    about: 'Recipe 2, OT edge: reads BACnet/IP on this machine and shows it; no broker is needed',
    services: of('central', 'fieldbus', 'web'),
    platforms: BOTH,
  },
  csv: { about: 'Dashboards and CSV packages, without any protocol', services: of('central', 'web'), platforms: BOTH },
  standalone: {
    about: 'One machine on the OT network with everything, the broker included',
    services: of('central', 'mqtt', 'fieldbus', 'web'),
    platforms: BOTH,
  },
  central: { about: 'Hub for remote edges on one machine', services: of('central', 'mqtt', 'web'), platforms: BOTH },
  edge: { about: 'BACnet/IP alone, which sends to a hub over MQTTS', services: of('fieldbus'), platforms: BOTH },
  'edge-split': {
    about: 'One protocol alone, which sends to a hub over MQTTS: choose one profile',
    services: [
      { component: 'bacnet-modbus', profile: 'bacnet_modbus' },
      { component: 'haystack', profile: 'haystack' },
    ],
    platforms: BOTH,
  },
  'local-bacnet-modbus': {
    about: 'BACnet/IP and Modbus on this machine, without a broker',
    services: of('central', 'bacnet-modbus', 'web'),
    platforms: BOTH,
  },
  'local-haystack': {
    about: 'A Haystack server, read from this machine, without a broker',
    services: of('central', 'haystack', 'web'),
    platforms: BOTH,
  },
}

/** Components that read equipment. */
const CONNECTORS: readonly ComponentName[] = ['fieldbus', 'bacnet-modbus', 'haystack']

export type RecipeSetting =
  | { value: string }
  /** The site must set it; the text says to what. */
  | { required: string }
  /** The site may set it. Undefined: the component's own default. */
  | { fallback: string | undefined }

/** Where the components of a deployment find each other. */
export type ServiceAddresses = {
  hostOf(component: ComponentName, asked: ComponentName): string
  portOf(component: ComponentName, asked: ComponentName): string
  /** Addresses from which web asks central. */
  proxies: string
}

/** Not for a site to set in a deployment: for a bench, for the simulated building, or given by how the process runs. */
const NOT_FOR_SITES = [
  'SERVICE_DEV_OPEN',
  'SERVICE_SIM_CLOCK',
  'SERVICE_PARQUET_ROOT',
  'SERVICE_DOCS_INDEX',
  'SERVICE_HEARTBEAT_FILE',
  'SERVICE_CONTAINER',
  'SERVICE_RABBITMQ_AUTH_PORT',
  'SERVICE_RABBITMQ_NODES',
]

/**
 * Settings of one component in a recipe, its folders and its own address left out.
 *
 * @returns by name of the variable: what the recipe fixes, what the site must set, and last what it may set
 */
export function settingsOf(recipe: Recipe, component: ComponentName, addresses: ServiceAddresses): Map<string, RecipeSetting> {
  const { env, inContainer, folders, listen } = COMPONENTS[component]
  const settings = new Map(partOf(recipe, component, addresses))
  const isOff = isFixed(settings.get('SERVICE_MQTT_ENABLED'), '0')
  const apart = new Set([
    ...NOT_FOR_SITES,
    ...Object.keys({ ...inContainer, ...folders }),
    ...Object.values(listen),
    ...(isOff ? ['SERVICE_MQTT_HOST', 'SERVICE_MQTT_PORT'] : []),
    ...(component === 'central' ? ['SERVICE_TLS_DIR'] : []),
  ])
  for (const name of Object.keys(env)) {
    if (!apart.has(name) && !settings.has(name)) settings.set(name, { fallback: undefined })
  }
  return settings
}

const isFixed = (setting: RecipeSetting | undefined, value: string): boolean =>
  setting !== undefined && 'value' in setting && setting.value === value

/** What the others in a recipe make of a component. */
function partOf(recipe: Recipe, component: ComponentName, addresses: ServiceAddresses): [string, RecipeSetting][] {
  const here = new Set(recipe.services.map(one => one.component))
  const hostOf = (asked: ComponentName) => ({ value: addresses.hostOf(component, asked) })
  const portOf = (asked: ComponentName) => ({ value: addresses.portOf(component, asked) })
  const broker: [string, RecipeSetting][] = [
    ['SERVICE_MQTT_HOST', hostOf('mqtt')],
    ['SERVICE_MQTT_PORT', portOf('mqtt')],
  ]
  const isLocal = here.has('central') && !here.has('mqtt')
  if (component === 'central')
    return [
      ['SERVICE_JWT_SECRET', { required: 'at least 32 characters, this deployment alone' }],
      ['SERVICE_ADMIN_PASSWORD', { required: 'password of the login admin' }],
      ['SERVICE_TRUSTED_PROXIES', { value: addresses.proxies }],
      ['SERVICE_MQTT_ENABLED', { value: here.has('mqtt') ? '1' : '0' }],
      ...(here.has('mqtt') ? broker : []),
      ...(isLocal && CONNECTORS.some(one => here.has(one)) ? [INGEST_TOKEN] : []),
    ]
  if (component === 'web')
    return [['SERVICE_CENTRAL_UPSTREAM', { value: `${hostOf('central').value}:${portOf('central').value}` }]]
  if (!CONNECTORS.includes(component)) return []
  const access: [string, RecipeSetting][] =
    component === 'haystack'
      ? [
          ['SERVICE_HAYSTACK_ENDPOINT', { required: 'address of the Haystack server, as https://server/api/demo/' }],
          ['SERVICE_HAYSTACK_API_KEY', { required: 'key for that server' }],
        ]
      : []
  if (isLocal)
    return [
      ...access,
      ['SERVICE_CENTRAL_URL', { value: `http://${hostOf('central').value}:${portOf('central').value}` }],
      INGEST_TOKEN,
      ['SERVICE_MQTT_ENABLED', { fallback: '0' }],
    ]
  if (here.has('mqtt')) return [...access, ['SERVICE_MQTT_ENABLED', { value: '1' }], ...broker]
  return [
    ...access,
    ['SERVICE_MQTT_ENABLED', { value: '1' }],
    ['SERVICE_MQTT_HOST', { required: 'host of the hub’s broker; outbound TCP 8883 must be open' }],
    ['SERVICE_SITE_ID', { required: 'the site, as in the kit' }],
  ]
}

const INGEST_TOKEN: [string, RecipeSetting] = [
  'SERVICE_LOCAL_INGEST_TOKEN',
  { required: 'at least 32 characters, with which the connector shows central who sends' },
]

export type RecipeFolder = {
  /** Variable of the component that names the folder. */
  variable: string
  /** Where it is in a container. */
  path: string
  isReadOnly: boolean
} & (
  | { volume: string }
  /** A folder that the site provides, named by a variable; without a fallback the site must set it. */
  | { from: string; required: string }
  | { from: string; fallback: string | undefined }
)

/** Folders of one component in a recipe. One that the site may leave out has the fallback undefined. */
export function foldersOf(recipe: Recipe, component: ComponentName): RecipeFolder[] {
  const here = new Set(recipe.services.map(one => one.component))
  const { folders } = COMPONENTS[component]
  return Object.entries(folders).flatMap(([variable, path]): RecipeFolder[] => {
    switch (variable) {
      case 'SERVICE_WORKSPACE':
        return component === 'central'
          ? [{ variable, path, isReadOnly: false, volume: 'workspace' }]
          : [{ variable, path, isReadOnly: true, from: 'SERVICE_EDGE_WORKSPACE', fallback: './edge' }]
      case 'SERVICE_RULE_RESULTS_DIR':
        return [{ variable, path, isReadOnly: false, volume: 'results' }]
      case 'SERVICE_EDGE_STORE_DIR':
        return [{ variable, path, isReadOnly: false, volume: 'edge-state' }]
      case 'SERVICE_MQTT_CERT_DIR': {
        if (!here.has('mqtt')) return []
        // Central issues and revokes the certificates of edges; the broker only reads them.
        const required = 'folder with the certificates of broker and central (provisioning/README.md)'
        return [{ variable, path, isReadOnly: component === 'mqtt', from: variable, required }]
      }
      case 'SERVICE_EDGE_KIT_DIR': {
        const sends = !here.has('central') || here.has('mqtt')
        const from = { variable, path, isReadOnly: true, from: variable }
        return [sends ? { ...from, required: 'folder with the edge kit' } : { ...from, fallback: undefined }]
      }
      default:
        return [{ variable, path, isReadOnly: variable === 'SERVICE_TLS_DIR', from: variable, fallback: undefined }]
    }
  })
}
