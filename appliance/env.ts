import { ID_REGEXP } from '#shared/core/model/model.ts'
import type { Settings, VariableTable } from '#shared/core/env.ts'
import { CENTRAL_VARIABLES } from '#shared/central/env.ts'
import { SERVICE_HEARTBEAT_FILE } from '#shared/node/heartbeat.ts'

/** Connection of an appliance to its hub. */
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

const IPV4 = String.raw`(?:\d{1,3}\.){3}\d{1,3}`

/** Addresses and limits of BACnet/IP. */
export const BACNET_VARIABLES = {
  SERVICE_BACNET_BIND: {
    kind: 'text',
    default: '0.0.0.0',
    pattern: new RegExp(`^${IPV4}(?:\\s*,\\s*${IPV4}){0,7}$`),
    doc: 'address on the OT network from which devices are asked; up to eight of them with commas, one for each network',
  },
  SERVICE_BACNET_PORT: { kind: 'integer', default: 47_808, min: 0, max: 65_535, doc: 'UDP port; 0 takes a free one' },
  SERVICE_BACNET_MAX_REQUESTS_PER_SECOND: {
    kind: 'integer',
    default: 200,
    min: 1,
    max: 100_000,
    doc: 'requests that each BACnet network is sent at most in a second',
  },
  SERVICE_BACNET_BBMD: {
    kind: 'text',
    pattern: new RegExp(`^${IPV4}(?::\\d{1,5})?$`),
    doc: 'address:port of a broadcast manager to register with, where devices are on another IP network',
  },
  SERVICE_BACNET_BBMD_TTL_SECS: {
    kind: 'integer',
    default: 300,
    min: 30,
    max: 65_535,
    doc: 'how long a registration with SERVICE_BACNET_BBMD lasts, s; it is renewed after half of it',
  },
} as const satisfies VariableTable

/** Whether priority arrays are read, how often, and how many records are retained. */
export const PRIORITY_VARIABLES = {
  SERVICE_PRIORITY_SCAN_ENABLED: {
    kind: 'flag',
    default: false,
    doc: '1: the priority arrays of BACnet points are read and kept',
  },
  SERVICE_PRIORITY_SCAN_INTERVAL_SECS: {
    kind: 'integer',
    default: 3600,
    min: 300,
    // The longest timer of Node.
    max: 2_147_483,
    doc: 'from the end of a visit to one device until the next device is visited, s; less than 300 refuses the start',
  },
  SERVICE_PRIORITY_SCAN_MAX_POINTS_PER_DEVICE: {
    kind: 'integer',
    default: 100,
    min: 1,
    max: 1000,
    doc: 'points that one visit asks for at most, 1000 at most; the next visit to the device goes on with the others',
  },
  SERVICE_PRIORITY_HISTORY_MAX_RECORDS: {
    kind: 'integer',
    default: 100_000,
    min: 1000,
    max: 100_000,
    doc: 'records of priority arrays that are kept, in SERVICE_EDGE_STORE_DIR/priority',
  },
} as const satisfies VariableTable

const EDGE_ID = {
  kind: 'text',
  default: 'fieldbus-1',
  pattern: ID_REGEXP,
  doc: 'this appliance within the site',
} as const

const { SERVICE_WORKSPACE, SERVICE_SITE_ID, SERVICE_LOG_LEVEL } = CENTRAL_VARIABLES

/**
 * Settings of every protocol process without central, beside those of its protocol: it polls, and its readings go to a broker,
 * to the central on this box, or to both.
 */
export const SPLIT_EDGE_VARIABLES = {
  SERVICE_WORKSPACE: { ...SERVICE_WORKSPACE, doc: 'folder that holds config/site.json and config/field-devices.json' },
  SERVICE_SITE_ID,
  SERVICE_EDGE_ID: EDGE_ID,
  SERVICE_CENTRAL_URL: {
    kind: 'text',
    pattern: /^https?:\/\/[^/?#]+\/?$/,
    doc: 'the central on this box, as http://host:port: what is read goes there; needs SERVICE_LOCAL_INGEST_TOKEN',
  },
  SERVICE_LOCAL_INGEST_TOKEN: {
    ...CENTRAL_VARIABLES.SERVICE_LOCAL_INGEST_TOKEN,
    doc: 'shows central who sends, and opens the poll status of this process; at least 32 characters of ASCII, no spaces',
  },
  ...UPLINK_VARIABLES,
  SERVICE_MQTT_ENABLED: { kind: 'flag', default: true, doc: '0: nothing goes to a broker; SERVICE_CENTRAL_URL is then needed' },
  SERVICE_EDGE_PORT: {
    kind: 'integer',
    default: 8090,
    min: 0,
    max: 65_535,
    doc: 'TCP port of health and poll status, on loopback; 0 takes a free one',
  },
  SERVICE_CONTAINER: { kind: 'flag', default: false, doc: '1: this is a container, so its port listens on every address in it' },
  SERVICE_LOG_LEVEL,
} as const satisfies VariableTable

/** @returns complaints about settings of a protocol process that contradict each other */
export function complainOfSplitEdge(settings: Settings<typeof SPLIT_EDGE_VARIABLES>): string[] {
  const { SERVICE_CENTRAL_URL: url, SERVICE_LOCAL_INGEST_TOKEN: token, SERVICE_MQTT_ENABLED: mqtt } = settings
  return [
    ...(mqtt || url !== undefined
      ? []
      : ['SERVICE_CENTRAL_URL, SERVICE_MQTT_ENABLED: readings would go nowhere; set the address of central, or 1']),
    ...(url === undefined ? [] : complainOfAddress(url)),
    ...(url !== undefined && token === undefined ? ['SERVICE_LOCAL_INGEST_TOKEN: SERVICE_CENTRAL_URL needs it'] : []),
  ]
}

/** Checks what the pattern cannot. The address may contain a password, so complaints do not repeat it. */
function complainOfAddress(text: string): string[] {
  const url = URL.parse(text)
  if (!url) return ['SERVICE_CENTRAL_URL: is no address of a host and a port']
  if (url.username === '' && url.password === '') return []
  return ['SERVICE_CENTRAL_URL: takes no user name or password; SERVICE_LOCAL_INGEST_TOKEN shows who sends']
}

/** The HTTPS address at which a hub asks this edge for its priority history. */
export const CONNECTOR_VARIABLES = {
  SERVICE_CONNECTOR_PORT: {
    kind: 'integer',
    min: 1,
    max: 65_535,
    doc: 'TCP port at which a hub reaches this edge by HTTPS, with the kit; without it the hub asks over the broker',
  },
  SERVICE_CONNECTOR_BIND: { kind: 'text', default: '0.0.0.0', doc: 'address that SERVICE_CONNECTOR_PORT listens on' },
} as const satisfies VariableTable

/** Settings of the processes that read BACnet/IP. */
export const FIELDBUS_ENV = {
  ...SPLIT_EDGE_VARIABLES,
  ...BACNET_VARIABLES,
  ...PRIORITY_VARIABLES,
  ...CONNECTOR_VARIABLES,
} as const satisfies VariableTable

/** Which Haystack server is spoken to. */
const HAYSTACK_VARIABLES = {
  SERVICE_HAYSTACK_ENDPOINT: {
    kind: 'text',
    doc: "address of the server's API, as https://skyspark.example/api/demo/; the key goes there and nowhere else",
  },
  SERVICE_HAYSTACK_API_KEY: { kind: 'text', secret: true, doc: 'API key, or the password of the user in the catalogue' },
  SERVICE_HAYSTACK_CA: {
    kind: 'text',
    doc: "PEM of the authority that signed the server's certificate, mostly as SERVICE_HAYSTACK_CA_FILE; else the system's",
  },
} as const satisfies VariableTable

/** Settings of the Haystack process. */
export const HAYSTACK_ENV = { ...SPLIT_EDGE_VARIABLES, ...HAYSTACK_VARIABLES } as const satisfies VariableTable

/** Settings of the appliance process. */
export const APPLIANCE_ENV = {
  ...CENTRAL_VARIABLES,
  QUERY_MEMORY_MB: { kind: 'integer', default: 192, min: 64, max: 65_536, doc: 'memory for a query over history, MB' },
  SERVICE_EDGE_ID: EDGE_ID,
  ...BACNET_VARIABLES,
  ...PRIORITY_VARIABLES,
  ...CONNECTOR_VARIABLES,
  SERVICE_BACNET_DISCOVERY: { kind: 'flag', default: true, doc: '0: no operator can call devices that are not in the list' },
  ...UPLINK_VARIABLES,
  SERVICE_SETTINGS_FILE: {
    kind: 'text',
    doc: 'file of NAME=value lines with which this process starts: a hub that accepts the box is switched on in it',
  },
  SERVICE_UPDATE_DIR: {
    kind: 'text',
    doc: 'folder in which the system of the box takes updates; where it is absent this process cannot be updated by its page',
  },
  SERVICE_NETWORK_DIR: {
    kind: 'text',
    doc: 'folder in which the system of the box takes settings of its network; where it is absent the page cannot change them',
  },
  SERVICE_HUB_UPDATES: { kind: 'flag', default: true, doc: '0: the hub cannot send updates of the system of the box' },
  SERVICE_HEARTBEAT_FILE,
  SERVICE_CLOCK_FILE: {
    kind: 'text',
    doc: 'where the time of the hub is written while the clock of this box is far from it and no time server sets it',
  },
} as const satisfies VariableTable
