/** Who may publish and receive what, as TOPICS.md states it. The table is written without the product's own rule. */
import type { Identity } from '#shared/core/auth/identity.ts'
import type { EdgeAddress } from '#shared/core/model/model.ts'

type Client = { cn: string; identity: Identity }
const edge = (cn: string, address: EdgeAddress): Client => ({ cn, identity: { kind: 'edge', ...address } })

const EDGES = [
  edge('edge:A:e1', { site_id: 'A', edge_id: 'e1' }),
  edge('edge:A:e2', { site_id: 'A', edge_id: 'e2' }),
  edge('edge:B:e1', { site_id: 'B', edge_id: 'e1' }),
  edge('edge:acme:A:e1', { tenant_id: 'acme', site_id: 'A', edge_id: 'e1' }),
  edge('edge:other:A:e1', { tenant_id: 'other', site_id: 'A', edge_id: 'e1' }),
]
export const CLIENTS: Client[] = [
  ...EDGES,
  { cn: 'central:A', identity: { kind: 'central', site_id: 'A' } },
  { cn: 'central:*', identity: { kind: 'central', site_id: '*' } },
  { cn: 'central:*:*', identity: { kind: 'central', site_id: '*', tenants: true } },
]

/** The beginning of the topics of each edge, and which centrals it is theirs to serve. */
const PREFIXES = [
  { cn: 'edge:A:e1', base: 'sites/A/edges/e1', centrals: ['central:A', 'central:*', 'central:*:*'] },
  { cn: 'edge:A:e2', base: 'sites/A/edges/e2', centrals: ['central:A', 'central:*', 'central:*:*'] },
  { cn: 'edge:B:e1', base: 'sites/B/edges/e1', centrals: ['central:*', 'central:*:*'] },
  { cn: 'edge:acme:A:e1', base: 'tenants/acme/buildings/A/edges/e1', centrals: ['central:*:*'] },
  { cn: 'edge:other:A:e1', base: 'tenants/other/buildings/A/edges/e1', centrals: ['central:*:*'] },
]
const FROM_EDGE = ['telemetry/bacnet', 'telemetry/modbus', 'telemetry/haystack', 'findings', 'metadata', 'status', 'responses']
const FROM_HUB = ['acks', 'requests']

/** A topic with the names of the clients that may publish to it and receive it. */
type TopicRow = { topic: string; publish: string[]; receive: string[] }

/** The topics of the product. */
export const TOPICS: TopicRow[] = PREFIXES.flatMap(({ cn, base, centrals }) => [
  ...FROM_EDGE.map(end => ({ topic: `${base}/${end}`, publish: [cn], receive: centrals })),
  ...FROM_HUB.map(end => ({ topic: `${base}/${end}`, publish: centrals, receive: [cn] })),
])

/** Topics to which nobody may publish. */
export const ODD_TOPICS = [
  'sites',
  '/',
  '//',
  'sites/A/edges/e1',
  'sites/A/edges/e1/',
  '/sites/A/edges/e1/status',
  'sites/A/edges/e1/status/',
  'sites/A/edges/e1//status',
  'sites//edges/e1/status',
  'sites/A/edges//status',
  'Sites/A/edges/e1/status',
  'sites/a/edges/e1/status',
  'sites/A/edges/e1/STATUS',
  'sites/A/edges/e1/telemetry',
  'sites/A/edges/e1/telemetry/',
  'sites/A/edges/e1/telemetry/csv',
  'sites/A/edges/e1/telemetry/bacnet/more',
  'sites/A/edges/e1/acks/more',
  'sites/A/edges/e1 /status',
  'sites/A/edges/ê1/status',
  'sites/\u0410/edges/e1/status',
  'sites/A/edges/e1/status\u200b',
  'sites/+/edges/e1/status',
  'sites/A/edges/+/acks',
  'sites/A/edges/e1/#',
  '#',
  '+',
  'tenants/acme/sites/A/edges/e1/status',
  'tenants/acme/buildings/A/edges/e1',
  'tenants//buildings/A/edges/e1/status',
  'buildings/A/edges/e1/status',
  '$SYS/broker/version',
  '$share/g/sites/A/edges/e1/status',
  '$sites/A/edges/e1/status',
  `sites/A/edges/e1/${'x'.repeat(1_000)}`,
  `sites/A/edges/${'e'.repeat(60_000)}/status`,
  `sites/A/edges/e1${'/x'.repeat(250)}`,
]

const ALL = ['central:*', 'central:*:*']
const SITE = ['central:A', ...ALL]
const TENANTS = ['central:*:*']
const EMPTY: string[] = []

/** A filter with the names of the clients for which everything that it stands for is allowed. */
export const FILTERS: [filter: string, clients: string[]][] = [
  ['#', EMPTY],
  ['+', EMPTY],
  ['+/#', EMPTY],
  ['/#', EMPTY],
  ['sites/#', EMPTY],
  ['sites/+', EMPTY],
  ['sites/+/edges/#', EMPTY],
  ['sites/A/#', EMPTY],
  ['sites/A/edges/e1/#', EMPTY],
  ['sites/A/edges/e1/+', EMPTY],
  ['sites/A/edges/e1/telemetry/#', EMPTY],
  ['sites/A/edges/+/acks', EMPTY],
  ['sites/+/edges/e1/acks', EMPTY],
  ['+/A/edges/e1/acks', EMPTY],
  ['sites/+/edges/+/+', EMPTY],
  ['sites/A/edges/e1/telemetry/+', SITE],
  ['sites/A/edges/+/telemetry/+', SITE],
  ['sites/A/edges/+/telemetry/bacnet', SITE],
  ['sites/A/edges/+/status', SITE],
  ['sites/B/edges/+/status', ALL],
  ['sites/+/edges/e1/status', ALL],
  ['sites/+/edges/+/telemetry/+', ALL],
  ['sites/+/edges/+/findings', ALL],
  ['sites/+/edges/+/metadata', ALL],
  ['sites/+/edges/+/responses', ALL],
  ['tenants/#', EMPTY],
  ['tenants/acme/#', EMPTY],
  ['tenants/acme/buildings/+/edges/+/acks', EMPTY],
  ['tenants/+/buildings/A/edges/e1/acks', EMPTY],
  ['tenants/acme/buildings/+/edges/+/status', TENANTS],
  ['tenants/+/buildings/+/edges/+/telemetry/+', TENANTS],
  ['tenants/+/buildings/+/edges/+/status', TENANTS],
  ['$SYS/#', EMPTY],
  ['$share/g/sites/+/edges/+/status', EMPTY],
  ['$share/g/sites/A/edges/e1/acks', EMPTY],
  ['sites//edges/+/status', EMPTY],
  ['sites/\u0410/edges/+/acks', EMPTY],
  ['sites/A/edges/e1/acks/', EMPTY],
  ['sites/A/edges/e1/acks/#', EMPTY],
  ...TOPICS.map(({ topic, receive }): [string, string[]] => [topic, receive]),
]

const central = (base: string) => ['telemetry/+', 'findings', 'metadata', 'status', 'responses'].map(end => `${base}/${end}`)

/** Filters that cover everything that a client may receive. */
export function wholeOf(cn: string): string[] {
  if (cn === 'central:A') return central('sites/A/edges/+')
  if (cn === 'central:*') return central('sites/+/edges/+')
  if (cn === 'central:*:*') return [...central('sites/+/edges/+'), ...central('tenants/+/buildings/+/edges/+')]
  return TOPICS.filter(({ receive }) => receive.includes(cn)).map(({ topic }) => topic)
}

/** Whether a topic of the product is one of those that a filter stands for (MQTT 3.1.1, 4.7). */
export function isMatch(filter: string, topic: string): boolean {
  const wide = filter.replace(/^\$share\/[^/]+\//, '').split('/')
  const levels = topic.split('/')
  const open = wide.at(-1) === '#'
  const fixed = open ? wide.slice(0, -1) : wide
  return (
    (open ? levels.length >= fixed.length : levels.length === fixed.length) &&
    fixed.every((level, i) => level === '+' || level === levels[i])
  )
}
