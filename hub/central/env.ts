import type { VariableTable } from '#shared/core/env.ts'
import { CENTRAL_VARIABLES } from '#shared/central/env.ts'
import { CLUSTER_VARIABLES } from '../cluster/env.ts'
import { EDGE_LIMIT_VARIABLES } from '../ingest/env.ts'
import { MQTT_ENV } from '../mqtt/env.ts'
import { TENANT_VARIABLES } from '../tenants/env.ts'

/** Settings of central as a process of its own. */
export const CENTRAL_ENV = {
  ...CENTRAL_VARIABLES,
  ...TENANT_VARIABLES,
  ...EDGE_LIMIT_VARIABLES,
  ...CLUSTER_VARIABLES,
  QUERY_MEMORY_MB: { kind: 'integer', default: 512, min: 64, max: 65_536, doc: 'memory for a query over history, MB' },
  SERVICE_MQTT_ENABLED: { kind: 'flag', default: true, doc: '0: no broker, for CSV packages only' },
  SERVICE_MQTT_HOST: { kind: 'text', default: 'mqtt', doc: 'host of the broker' },
  SERVICE_MQTT_PORT: { ...MQTT_ENV.SERVICE_MQTT_PORT, doc: 'port of the broker' },
  SERVICE_MQTT_CERT_DIR: {
    ...MQTT_ENV.SERVICE_MQTT_CERT_DIR,
    doc: 'folder with ca.cert.pem, central.cert.pem and central.key.pem',
  },
} as const satisfies VariableTable
