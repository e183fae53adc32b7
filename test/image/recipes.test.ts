/** The compose files against the specification's table of recipes, written down here a second time. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import test from 'ava'
import { APPLIANCE_ENV, FIELDBUS_ENV, HAYSTACK_ENV } from '#appliance/env.ts'
import { CENTRAL_ENV } from '#hub/central/env.ts'
import { MQTT_ENV } from '#hub/mqtt/env.ts'
import { WEB_ENV } from '#hub/web/env.ts'
import { deploymentFiles } from '#image/recipes/deployment-files.ts'
import { requiredOf } from '#image/recipes/compose.ts'
import { RECIPE_NAMES, RECIPES } from '#image/recipes/deployments.ts'
import type { VariableTable } from '#shared/core/env.ts'
import { readCompose, RECIPE_SETTINGS } from '../support/compose-text.ts'

type ComposeService = {
  image: string
  platform?: string
  profiles?: string[]
  container_name?: string
  user: string
  read_only: boolean
  init: boolean
  cap_drop: string[]
  cap_add?: string[]
  privileged?: boolean
  security_opt: string[]
  network_mode?: string
  ports?: string[]
  volumes?: string[]
  tmpfs: string[]
  environment: Record<string, string | null>
  depends_on?: Record<string, { condition: string }>
  logging: { options: Record<string, string> }
}
type Compose = { services: Record<string, ComposeService>; volumes?: Record<string, null> }

/** Every variable that some recipe requires. */
const SITE: Record<string, string> = { SERVICE_IMAGE_REGISTRY: 'registry.example/plenum', ...RECIPE_SETTINGS }
const SECRETS = ['SERVICE_JWT_SECRET', 'SERVICE_ADMIN_PASSWORD']
const KIT = ['SERVICE_MQTT_HOST', 'SERVICE_SITE_ID', 'SERVICE_EDGE_KIT_DIR']

/** @source specification, "Recipes (deployment shapes)": services in their order, and what a site must set */
const SPECIFIED: Record<(typeof RECIPE_NAMES)[number], { services: string[]; required: string[] }> = {
  hub: { services: ['central', 'mqtt', 'web'], required: [...SECRETS, 'SERVICE_MQTT_CERT_DIR'] },
  'ot-edge': { services: ['central', 'fieldbus', 'web'], required: [...SECRETS, 'SERVICE_LOCAL_INGEST_TOKEN'] },
  csv: { services: ['central', 'web'], required: SECRETS },
  standalone: {
    services: ['central', 'mqtt', 'fieldbus', 'web'],
    required: [...SECRETS, 'SERVICE_MQTT_CERT_DIR', 'SERVICE_EDGE_KIT_DIR'],
  },
  central: { services: ['central', 'mqtt', 'web'], required: [...SECRETS, 'SERVICE_MQTT_CERT_DIR'] },
  edge: { services: ['fieldbus'], required: KIT },
  // Compose demands variables of both profiles; those of one alone are demanded by its process.
  'edge-split': { services: ['bacnet-modbus', 'haystack'], required: KIT },
  'local-bacnet-modbus': { services: ['central', 'bacnet-modbus', 'web'], required: [...SECRETS, 'SERVICE_LOCAL_INGEST_TOKEN'] },
  'local-haystack': {
    services: ['central', 'haystack', 'web'],
    required: [...SECRETS, 'SERVICE_LOCAL_INGEST_TOKEN', 'SERVICE_HAYSTACK_ENDPOINT', 'SERVICE_HAYSTACK_API_KEY'],
  },
}
const PROTOCOLS = ['fieldbus', 'bacnet-modbus', 'haystack']
const TABLES: Record<string, VariableTable> = {
  central: CENTRAL_ENV,
  web: WEB_ENV,
  mqtt: MQTT_ENV,
  fieldbus: FIELDBUS_ENV,
  'bacnet-modbus': FIELDBUS_ENV,
  haystack: HAYSTACK_ENV,
}

const textOf = (name: string): string => readFileSync(`image/recipes/${name}.yaml`, 'utf8')
const read = (name: string, site = SITE): Compose => readCompose(textOf(name), site) as Compose

test('compose files, lists of settings, units and container files are what the table says: node scripts/recipes.ts', t => {
  for (const [path, text] of deploymentFiles()) t.is(existsSync(path) ? readFileSync(path, 'utf8') : undefined, text, path)
})

for (const name of RECIPE_NAMES) {
  const { services, required } = SPECIFIED[name]

  test(`${name} has the services of the specification, in the order in which they start`, t => {
    const compose = read(name)
    t.deepEqual(Object.keys(compose.services), services)
    for (const [component, { depends_on = {} }] of Object.entries(compose.services)) {
      const earlier = name === 'edge-split' ? [] : services.slice(0, services.indexOf(component))
      t.deepEqual(Object.keys(depends_on), earlier, component)
      for (const first of ['central', 'mqtt']) {
        if (earlier.includes(first)) t.is(depends_on[first]?.condition, 'service_healthy', `${component} waits for ${first}`)
      }
    }
  })

  test(`${name} does not start without a setting that it needs, and names it`, t => {
    for (const variable of ['SERVICE_IMAGE_REGISTRY', ...required]) {
      for (const site of [
        { ...SITE, [variable]: '' },
        { ...SITE, [variable]: undefined },
      ]) {
        t.throws(() => read(name, site as Record<string, string>), { message: new RegExp(`^${variable}: `) })
      }
    }
    const others = Object.fromEntries(['SERVICE_IMAGE_REGISTRY', ...required].map(variable => [variable, SITE[variable]!]))
    t.notThrows(() => read(name, others))
  })

  test(`${name} runs as a user without rights, on a root that cannot be written, with a bounded log`, t => {
    for (const [component, service] of Object.entries(read(name).services)) {
      t.regex(service.user, /^[1-9]\d*:[1-9]\d*$/, component)
      t.true(service.read_only && service.init, component)
      t.deepEqual([service.cap_drop, service.cap_add, service.privileged], [['ALL'], undefined, undefined])
      t.deepEqual(service.security_opt, ['no-new-privileges:true'])
      t.regex(service.tmpfs.join(), /^\/tmp:.*noexec,nosuid/)
      t.truthy(service.logging.options['max-size'] && service.logging.options['max-file'])
    }
  })

  test(`${name} opens nothing but web to other machines`, t => {
    for (const [component, { ports = [], network_mode }] of Object.entries(read(name).services)) {
      const isPublic = ports.some(port => !port.startsWith('127.0.0.1:'))
      t.is(isPublic, component === 'web', `${component}: ${ports.join()}`)
      t.is(network_mode, component === 'fieldbus' || component === 'bacnet-modbus' ? 'host' : undefined)
    }
    const opened = read(name, { ...SITE, SERVICE_MQTT_BIND: '10.0.0.5' }).services['mqtt']?.ports
    if (opened) t.deepEqual(opened, ['10.0.0.5:8883:8883'])
  })

  test(`${name} takes all images from one tag, nightly unless the site says another`, t => {
    for (const [tag, site] of [
      ['nightly', SITE],
      ['sha-0123abc', { ...SITE, SERVICE_IMAGE_TAG: 'sha-0123abc' }],
    ] as const) {
      const images = Object.entries(read(name, site).services).map(([component, { image }]) => [component, image])
      t.deepEqual(
        images,
        services.map(component => [component, `registry.example/plenum/${component}:${tag}`]),
      )
    }
  })

  test(`${name} sets only variables that its processes know`, t => {
    for (const [component, { environment }] of Object.entries(read(name).services)) {
      for (const variable of Object.keys(environment))
        t.true(Object.hasOwn(TABLES[component]!, variable), `${component}: ${variable}`)
    }
  })

  test(`${name}: the list of settings names what is required, and compose demands no more`, t => {
    const text = readFileSync(`image/recipes/${name}.env.example`, 'utf8')
    const listed = [...text.matchAll(/^(\w+)=$/gm)].map(([, variable]) => variable!)
    t.deepEqual(listed, ['SERVICE_IMAGE_REGISTRY', ...requiredOf(RECIPES[name]).keys()])
    const demanded = new Set([...textOf(name).matchAll(/\$\{(\w+):\?/g)].map(([, variable]) => variable!))
    t.deepEqual([...demanded].toSorted(), ['SERVICE_IMAGE_REGISTRY', ...required].toSorted())
  })
}

test('hubs and CSV recipes start no protocol process, have no edge store and no priority visits', t => {
  for (const name of ['hub', 'central', 'csv'] as const) {
    const { services, volumes } = read(name)
    t.deepEqual(
      Object.keys(services).filter(component => PROTOCOLS.includes(component)),
      [],
    )
    t.false('edge-state' in (volumes ?? {}))
    t.notRegex(textOf(name), /edge-state|PRIORITY_SCAN/)
  }
})

test('central keeps its data on a volume and never sees the edge store', t => {
  for (const name of RECIPE_NAMES) {
    const { services, volumes = {} } = read(name)
    const central = services['central']
    if (!central) continue
    t.true(central.volumes!.includes('workspace:/workspace'), name)
    t.true('workspace' in volumes)
    t.false(central.volumes!.some(volume => volume.includes('edge-state')))
    for (const component of PROTOCOLS)
      if (services[component]) t.true(services[component].volumes!.includes('edge-state:/edge-state'))
  }
})

test('messages of edges need a broker only where the specification says so', t => {
  const mqtt = (name: string, component: string) => read(name).services[component]!.environment['SERVICE_MQTT_ENABLED']
  t.is(mqtt('csv', 'central'), '0')
  for (const name of ['hub', 'central', 'standalone']) t.is(mqtt(name, 'central'), '1')
  for (const [name, connector] of [
    ['ot-edge', 'fieldbus'],
    ['local-bacnet-modbus', 'bacnet-modbus'],
    ['local-haystack', 'haystack'],
  ] as const) {
    t.is(mqtt(name, 'central'), '0')
    t.is(mqtt(name, connector), '0', 'publishing to a hub is off')
    const published = read(name, { ...SITE, SERVICE_MQTT_ENABLED: '1' })
    t.is(published.services[connector]!.environment['SERVICE_MQTT_ENABLED'], '1')
    t.is(published.services['central']!.environment['SERVICE_MQTT_ENABLED'], '0')
  }
})

test('the profiles of edge-split exclude each other', t => {
  const { services } = read('edge-split')
  t.deepEqual([services['bacnet-modbus']!.profiles, services['haystack']!.profiles], [['bacnet_modbus'], ['haystack']])
  // Compose refuses two containers with one name.
  t.is(services['bacnet-modbus']!.container_name, services['haystack']!.container_name)
})

test('the haystack process is reached from its own machine alone', t => {
  for (const name of ['edge-split', 'local-haystack'])
    t.deepEqual(read(name).services['haystack']!.ports, ['127.0.0.1:8090:8090'])
})

test('web asks central by name and port, central believes web, and web the proxies that the site names', t => {
  const { central, web } = read('hub', { ...SITE, SERVICE_NETWORK: '10.9.8.0/24' }).services
  t.is(web!.environment['SERVICE_CENTRAL_UPSTREAM'], 'central:8080')
  t.is(central!.environment['SERVICE_TRUSTED_PROXIES'], '10.9.8.0/24')
  t.is(web!.environment['SERVICE_TRUSTED_PROXIES'], null)
})

test('a certificate folder of the site serves pages over HTTPS, and without one the folder is an empty volume', t => {
  const without = read('hub').services['web']!
  t.deepEqual([without.environment['SERVICE_TLS_DIR'], without.volumes], ['', ['tls:/tls:ro']])
  const own = read('hub', { ...SITE, SERVICE_TLS_DIR: '/srv/tls' }).services['web']!
  t.deepEqual([own.environment['SERVICE_TLS_DIR'], own.volumes], ['/tls', ['/srv/tls:/tls:ro']])
})

test('the images of the cloud hub are linux/amd64', t => {
  for (const { platform } of Object.values(read('hub').services)) t.is(platform, 'linux/amd64')
  for (const { platform } of Object.values(read('ot-edge').services)) t.is(platform, undefined)
  t.deepEqual(RECIPES['ot-edge'].platforms, ['linux/amd64', 'linux/arm64'])
})

test('no file of a deployment holds a secret, and none names a tag that is not built', t => {
  const secrets = Object.entries({ ...CENTRAL_ENV, ...APPLIANCE_ENV, ...HAYSTACK_ENV }).flatMap(([name, one]) =>
    'secret' in one && one.secret ? [name] : [],
  )
  for (const path of execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'image/recipes'], { encoding: 'utf8' }).split(
    '\n',
  )) {
    if (!/\.(yaml|example|service)$/.test(path)) continue
    const text = readFileSync(path, 'utf8')
    for (const secret of secrets) t.notRegex(text, new RegExp(`^\\s*#?${secret}[:=] *[^$\\s]`, 'm'), path)
    t.notRegex(text, /:latest|:stable/, path)
  }
})
