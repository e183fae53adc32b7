import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import test from 'ava'
import { closure } from '#scripts/closure.ts'

const DRIVERS = ['appliance/drivers/', 'node-bacnet', 'serialport']
const HAYSTACK = ['appliance/drivers/haystack/', 'haystack-core']
/** The data of a site. The index of documents is read with better-sqlite3 as well, and is none of it. */
const SITE_STORES = ['shared/node/sqlite.ts', 'shared/node/store/', 'shared/node/historian/', '@duckdb/node-api']
const STORES = [...SITE_STORES, 'better-sqlite3']
const INDEX = 'shared/node/documents/'
const HUB = ['hub/']
const BROKER = ['hub/broker/', 'aedes']
const MCP = '@modelcontextprotocol/server'

/** What a driver knows of its protocol without speaking it: tables of points are read with it in every component. */
const PURE = /^appliance\/drivers\/\w+\/core\//

/** What a component is, and what its image must not contain: beginnings of files, and packages. */
const COMPONENTS: { main: string; reaches: string[]; never: string[] }[] = [
  { main: 'appliance/main.ts', reaches: DRIVERS, never: [...HUB, ...BROKER, ...HAYSTACK] },
  {
    main: 'appliance/fieldbus/main.ts',
    reaches: ['appliance/drivers/bacnet/', 'mqtt'],
    never: [...HUB, ...STORES, ...HAYSTACK, 'appliance/drivers/modbus/', 'serialport', 'aedes'],
  },
  { main: 'appliance/bacnet-modbus/main.ts', reaches: DRIVERS, never: [...HUB, ...STORES, ...HAYSTACK, 'aedes'] },
  {
    main: 'appliance/haystack/main.ts',
    reaches: [...HAYSTACK, 'mqtt'],
    never: [...HUB, ...STORES, 'appliance/drivers/bacnet/', 'appliance/drivers/modbus/', 'node-bacnet', 'serialport', 'aedes'],
  },
  {
    main: 'appliance/prepare/main.ts',
    reaches: ['@peculiar/x509'],
    never: [...HUB, ...DRIVERS, ...HAYSTACK, ...STORES, 'mqtt', 'fastify'],
  },
  { main: 'hub/main.ts', reaches: [...BROKER, ...STORES], never: ['appliance/', ...DRIVERS] },
  { main: 'hub/central/main.ts', reaches: STORES, never: ['appliance/', ...DRIVERS] },
  { main: 'hub/web/main.ts', reaches: ['@fastify/http-proxy'], never: ['appliance/', ...DRIVERS, ...STORES, 'mqtt', 'aedes'] },
  {
    main: 'hub/tenants/main.ts',
    reaches: ['better-sqlite3'],
    never: ['appliance/', ...DRIVERS, ...BROKER, MCP, 'mqtt', 'fastify', '@duckdb/node-api'],
  },
  { main: 'hub/mqtt/main.ts', reaches: ['aedes'], never: ['appliance/', ...DRIVERS, ...STORES] },
  { main: 'hub/mcp/main.ts', reaches: [MCP, INDEX], never: ['appliance/', ...DRIVERS, ...SITE_STORES, ...BROKER, 'mqtt'] },
  { main: 'appliance/mcp/main.ts', reaches: [MCP, INDEX], never: [...HUB, ...DRIVERS, ...HAYSTACK, ...SITE_STORES, 'mqtt'] },
  { main: 'hub/retrieval/main.ts', reaches: [INDEX], never: ['appliance/', ...DRIVERS, ...SITE_STORES, ...BROKER, MCP, 'mqtt'] },
  { main: 'provisioning/main.ts', reaches: ['@peculiar/x509'], never: ['appliance/', 'hub/', ...DRIVERS, ...STORES] },
]

for (const { main, reaches, never } of COMPONENTS) {
  test(`${main} reaches what it is for and nothing that its image must not hold`, t => {
    const { files, packages } = closure(main)
    const within = (part: string) =>
      [...files.filter(file => !PURE.test(file)), ...packages].filter(
        item => item === part || (part.endsWith('/') && item.startsWith(part)),
      )
    for (const part of reaches) t.not(within(part).length, 0, `${main} does not reach ${part}`)
    for (const part of never) t.deepEqual(within(part), [], `${main} reaches ${part}`)
    for (const file of files) t.true(existsSync(file), file)
  })
}

test('every main is a component of the table', t => {
  const mains = execFileSync('git', ['ls-files', '--', '*/main.ts'], { encoding: 'utf8' }).split('\n').filter(Boolean)
  t.deepEqual(mains.toSorted(), COMPONENTS.map(({ main }) => main).toSorted())
})

test('every package that a main reaches is a dependency, and every dependency is reached or served', t => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    dependencies: Record<string, string>
  }
  const reached = new Set(COMPONENTS.flatMap(({ main }) => closure(main).packages).filter(name => !name.startsWith('node:')))
  const declared = Object.keys(dependencies)
  t.deepEqual(
    [...reached].filter(name => !declared.includes(name)),
    [],
  )
  t.deepEqual(
    declared.filter(name => !reached.has(name) && !SERVED.has(name)),
    [],
  )
})

/** Browser files that are read from the package and served, not imported. */
const SERVED = new Set(['htmx.org', 'uplot'])
