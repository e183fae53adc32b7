import type { VariableTable } from '#shared/core/env.ts'
import { CENTRAL_VARIABLES } from '#shared/central/env.ts'
import { EDGE_LIMIT_VARIABLES } from './ingest/env.ts'
import { MQTT_ENV } from './mqtt/env.ts'
import { TENANT_VARIABLES } from './tenants/env.ts'

/** Settings of the hub: broker, central and pages in one process. */
export const HUB_ENV = {
  ...MQTT_ENV,
  ...CENTRAL_VARIABLES,
  ...TENANT_VARIABLES,
  ...EDGE_LIMIT_VARIABLES,
  SERVICE_EST_PORT: {
    kind: 'integer',
    min: 1,
    max: 65_535,
    doc: 'TCP port of EST (RFC 7030), by which devices enrol and renew their certificates; without it there is none',
  },
  QUERY_MEMORY_MB: { kind: 'integer', default: 512, min: 64, max: 65_536, doc: 'memory for a query over history, MB' },
} as const satisfies VariableTable
