import type { VariableTable } from '#shared/core/env.ts'
import { CENTRAL_VARIABLES } from '#shared/central/env.ts'

/** How an appliance reaches its hub. */
export const UPLINK_VARIABLES = {
  SERVICE_MQTT_ENABLED: { kind: 'flag', default: false, doc: '1: readings and findings also go to a hub' },
  SERVICE_EDGE_KIT_DIR: { kind: 'text', default: '/mqtt', doc: 'the edge kit, as a folder or a ZIP' },
  SERVICE_MQTT_HOST: { kind: 'text', doc: 'host of the broker, where the kit names another' },
  SERVICE_MQTT_PORT: { kind: 'integer', default: 8883, min: 1, max: 65_535, doc: 'port of the broker, with SERVICE_MQTT_HOST' },
  SERVICE_EDGE_STORE_DIR: {
    kind: 'text',
    default: '/edge-state',
    doc: 'folder of what waits for the hub; never shared with central',
  },
  SERVICE_OUTBOX_MAX_MB: { kind: 'integer', default: 512, min: 8, max: 65_536, doc: 'most that may wait for the hub, MB' },
} as const satisfies VariableTable

/** Where BACnet/IP is spoken. */
export const BACNET_VARIABLES = {
  SERVICE_BACNET_BIND: { kind: 'text', default: '0.0.0.0', doc: 'address on the OT network from which devices are asked' },
  SERVICE_BACNET_PORT: { kind: 'integer', default: 47_808, min: 0, max: 65_535, doc: 'UDP port; 0 takes a free one' },
} as const satisfies VariableTable

const EDGE_ID = {
  kind: 'text',
  default: 'fieldbus-1',
  pattern: /^[A-Za-z0-9._-]{1,128}$/,
  doc: 'this appliance within the site',
} as const

const { SERVICE_MQTT_ENABLED: _alwaysOn, ...UPLINK } = UPLINK_VARIABLES
const { SERVICE_WORKSPACE, SERVICE_SITE_ID, SERVICE_LOG_LEVEL } = CENTRAL_VARIABLES

/** What a protocol process without central is told: it polls, and everything goes to the broker. */
export const FIELDBUS_ENV = {
  SERVICE_WORKSPACE: { ...SERVICE_WORKSPACE, doc: 'folder that holds config/site.json and config/field-devices.json' },
  SERVICE_SITE_ID,
  SERVICE_EDGE_ID: EDGE_ID,
  ...BACNET_VARIABLES,
  ...UPLINK,
  SERVICE_LOG_LEVEL,
} as const satisfies VariableTable

/** What the whole appliance is told. */
export const APPLIANCE_ENV = {
  ...CENTRAL_VARIABLES,
  QUERY_MEMORY_MB: { kind: 'integer', default: 192, min: 64, max: 65_536, doc: 'memory for a query over history, MB' },
  SERVICE_EDGE_ID: EDGE_ID,
  ...BACNET_VARIABLES,
  ...UPLINK_VARIABLES,
} as const satisfies VariableTable
