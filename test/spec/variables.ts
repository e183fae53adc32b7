/**
 * The environment variables of the service specification: default, values that are accepted at the bounds, and values beyond
 * them, which end the start (only `ttl_secs`, which is no variable, is clamped).
 */
import { APPLIANCE_ENV, FIELDBUS_ENV, HAYSTACK_ENV } from '#appliance/env.ts'
import { CENTRAL_ENV } from '#hub/central/env.ts'
import { HUB_ENV } from '#hub/env.ts'
import { HUB_MCP_ENV } from '#hub/mcp/env.ts'
import { RETRIEVAL_ENV } from '#hub/retrieval/env.ts'
import { WEB_ENV } from '#hub/web/env.ts'
import type { VariableTable } from '#shared/core/env.ts'

export const TABLES = {
  appliance: APPLIANCE_ENV,
  fieldbus: FIELDBUS_ENV,
  haystack: HAYSTACK_ENV,
  hub: HUB_ENV,
  central: CENTRAL_ENV,
  web: WEB_ENV,
  mcp: HUB_MCP_ENV,
  retrieval: RETRIEVAL_ENV,
} satisfies Record<string, VariableTable>
type Component = keyof typeof TABLES

type Variable = {
  name: string
  section: 'Limits' | 'Authentication' | 'Components' | 'Recipes' | 'Endpoints' | 'Resources'
  /** Default by component, as the process sees it; `undefined` where the variable has none. */
  defaults: Partial<Record<Component, string | number | boolean | undefined>>
  accepted?: string[]
  refused?: string[]
}

const FLAG = { accepted: ['0', '1'], refused: ['2', 'true', 'no'] }
const ID = { accepted: ['local', 'a.b_c-9', 'x'.repeat(128)], refused: ['a/b', '#', '+', 'x'.repeat(129)] }
const SECRET = { appliance: undefined, hub: undefined, central: undefined }

export const VARIABLES: Variable[] = [
  {
    name: 'SERVICE_SITE_ID',
    section: 'Limits',
    defaults: { appliance: 'local', fieldbus: 'local', haystack: 'local', central: 'local', hub: 'local' },
    ...ID,
  },
  {
    name: 'SERVICE_EDGE_ID',
    section: 'Limits',
    defaults: { appliance: 'fieldbus-1', fieldbus: 'fieldbus-1', haystack: 'fieldbus-1' },
    ...ID,
  },
  {
    name: 'SERVICE_CENTRAL_BIND',
    section: 'Limits',
    defaults: { appliance: '0.0.0.0', hub: '0.0.0.0', central: '0.0.0.0' },
  },
  { name: 'SERVICE_WEB_BIND', section: 'Limits', defaults: { web: '0.0.0.0' } },
  {
    name: 'SERVICE_CENTRAL_UPSTREAM',
    section: 'Limits',
    defaults: { web: 'central:8080' },
    accepted: ['central:8080', '10.0.0.1:1', 'central.example:65535'],
    refused: ['http://central:8080', 'central', 'central:8080/api'],
  },
  { name: 'SERVICE_NGINX_RESOLVER', section: 'Limits', defaults: { web: 'auto' }, accepted: ['auto', '10.0.0.53'] },
  {
    name: 'SERVICE_WORKSPACE',
    section: 'Limits',
    defaults: { appliance: '/workspace', fieldbus: '/workspace', hub: '/workspace', central: '/workspace' },
  },
  { name: 'SERVICE_REACT_UI', section: 'Limits', defaults: { web: true }, ...FLAG },
  {
    name: 'SERVICE_EDGE_STORE_DIR',
    section: 'Limits',
    defaults: { appliance: '/edge-state', fieldbus: '/edge-state', haystack: '/edge-state' },
  },
  {
    name: 'SERVICE_JWT_SECRET',
    section: 'Authentication',
    defaults: SECRET,
    accepted: ['x'.repeat(32), 'x'.repeat(200)],
    refused: ['x'.repeat(31)],
  },
  { name: 'SERVICE_ADMIN_PASSWORD', section: 'Authentication', defaults: SECRET },
  { name: 'SERVICE_AGENT_PASSWORD', section: 'Authentication', defaults: SECRET },
  { name: 'SERVICE_VIEWER_PASSWORD', section: 'Authentication', defaults: SECRET },
  { name: 'SERVICE_API_KEY', section: 'Endpoints', defaults: SECRET, accepted: ['x'.repeat(16)], refused: ['x'.repeat(15)] },
  { name: 'SERVICE_MULTI_TENANT', section: 'Resources', defaults: { hub: false, central: false }, ...FLAG },
  {
    name: 'SERVICE_MQTT_ENABLED',
    section: 'Recipes',
    // A box needs no broker; a process that only polls has nowhere else to send by default.
    defaults: { central: true, fieldbus: true, haystack: true, appliance: false },
    ...FLAG,
  },
  { name: 'SERVICE_MQTT_HOST', section: 'Recipes', defaults: { fieldbus: undefined, central: 'mqtt' } },
  { name: 'SERVICE_EDGE_KIT_DIR', section: 'Recipes', defaults: { fieldbus: '/mqtt', appliance: '/mqtt' } },
  { name: 'SERVICE_RULE_RESULTS_DIR', section: 'Resources', defaults: { central: undefined, appliance: undefined } },
  {
    name: 'SERVICE_PRIORITY_SCAN_ENABLED',
    section: 'Limits',
    defaults: { appliance: false, fieldbus: false },
    ...FLAG,
  },
  {
    name: 'SERVICE_PRIORITY_SCAN_INTERVAL_SECS',
    section: 'Limits',
    defaults: { appliance: 3600, fieldbus: 3600 },
    accepted: ['300', '3600', '86400'],
    refused: ['299', '0', '-300', '3600.5', 'hourly'],
  },
  {
    name: 'SERVICE_PRIORITY_SCAN_MAX_POINTS_PER_DEVICE',
    section: 'Limits',
    defaults: { appliance: 100, fieldbus: 100 },
    accepted: ['1', '100', '1000'],
    refused: ['1001', '0', '1e3'],
  },
  {
    name: 'QUERY_MEMORY_MB',
    section: 'Limits',
    defaults: { appliance: 192, hub: 512, central: 512 },
    accepted: ['64', '65536'],
    refused: ['63', '65537', '1.5'],
  },
  {
    name: 'SERVICE_SQL_ANOMALY_SCREENING',
    section: 'Endpoints',
    defaults: { appliance: false, hub: false, central: false },
    ...FLAG,
  },
  {
    name: 'SERVICE_API_BASE',
    section: 'Components',
    defaults: { mcp: 'http://127.0.0.1:8080' },
    accepted: ['http://central:8080', 'https://hub.example/'],
    refused: ['central:8080', 'ftp://central', 'http://central/api'],
  },
  { name: 'SERVICE_MCP_TOKEN', section: 'Components', defaults: { mcp: undefined } },
  { name: 'SERVICE_MCP_ALLOW_WRITES', section: 'Endpoints', defaults: { mcp: false }, ...FLAG },
  {
    name: 'SERVICE_MCP_ENABLE_ACTION_TOOLS',
    section: 'Endpoints',
    defaults: { retrieval: 'false' },
    accepted: ['true', 'false', '1', '0'],
    refused: ['TRUE', 'yes', '2'],
  },
]
