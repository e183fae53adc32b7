/** The components that are deployed on their own: what each starts, listens on and takes as settings. */
import { FIELDBUS_ENV, HAYSTACK_ENV } from '#appliance/env.ts'
import { CENTRAL_ENV } from '#hub/central/env.ts'
import { HUB_MCP_ENV } from '#hub/mcp/env.ts'
import { MQTT_ENV } from '#hub/mqtt/env.ts'
import { RETRIEVAL_ENV } from '#hub/retrieval/env.ts'
import { WEB_ENV } from '#hub/web/env.ts'
import type { VariableTable } from '#shared/core/env.ts'

/** Names of images and services, as the service specification has them. @source specification, "Components" */
export const COMPONENT_NAMES = ['central', 'web', 'fieldbus', 'bacnet-modbus', 'haystack', 'mqtt', 'mcp', 'retrieval'] as const
export type ComponentName = (typeof COMPONENT_NAMES)[number]

type Component = {
  /** First line of its container file and of its unit. */
  about: string
  main: string
  env: VariableTable
  /** Its TCP port in a container, and the variables that name its address and port. */
  port: number
  listen: { bind?: string; port: string }
  /** What its health check asks: a path, or the file that it writes while it works. */
  probe: { path: string } | { heartbeat: string }
  /** Settings of every container of it; its container file has them. */
  inContainer: Readonly<{ [variable: string]: string }>
  /** BACnet needs the broadcasts of the host's own networks. */
  hostNetwork: boolean
  /** Folders inside, by the variable that names each: everything that it reads or writes beside its program. */
  folders: Readonly<{ [variable: string]: string }>
}

/** Folders of a protocol process. */
const EDGE_FOLDERS = { SERVICE_WORKSPACE: '/workspace', SERVICE_EDGE_STORE_DIR: '/edge-state', SERVICE_EDGE_KIT_DIR: '/mqtt' }
const HEARTBEAT = '/tmp/alive'

export const COMPONENTS: Readonly<Record<ComponentName, Component>> = {
  central: {
    about: 'HTTP API, rule engine and stores',
    main: 'hub/central/main.ts',
    env: CENTRAL_ENV,
    port: 8080,
    listen: { bind: 'SERVICE_CENTRAL_BIND', port: 'SERVICE_CENTRAL_PORT' },
    probe: { path: '/api/health' },
    inContainer: {},
    hostNetwork: false,
    folders: {
      SERVICE_WORKSPACE: '/workspace',
      SERVICE_RULE_RESULTS_DIR: '/results',
      SERVICE_BACKUP_DIR: '/backups',
      SERVICE_MQTT_CERT_DIR: '/mqtt',
    },
  },
  web: {
    about: 'pages and API of central for browsers; the only component with a public address',
    main: 'hub/web/main.ts',
    env: WEB_ENV,
    port: 8080,
    listen: { bind: 'SERVICE_WEB_BIND', port: 'SERVICE_WEB_PORT' },
    probe: { path: '/api/health' },
    inContainer: {},
    hostNetwork: false,
    folders: { SERVICE_TLS_DIR: '/tls' },
  },
  fieldbus: {
    about: 'polls BACnet/IP devices',
    main: 'appliance/fieldbus/main.ts',
    env: FIELDBUS_ENV,
    port: 8090,
    listen: { port: 'SERVICE_EDGE_PORT' },
    probe: { path: '/api/health' },
    inContainer: {},
    hostNetwork: true,
    folders: EDGE_FOLDERS,
  },
  'bacnet-modbus': {
    about: 'polls BACnet/IP and Modbus devices',
    main: 'appliance/bacnet-modbus/main.ts',
    env: FIELDBUS_ENV,
    port: 8090,
    listen: { port: 'SERVICE_EDGE_PORT' },
    probe: { path: '/api/health' },
    inContainer: {},
    hostNetwork: true,
    folders: EDGE_FOLDERS,
  },
  haystack: {
    about: 'reads points of a Haystack server',
    main: 'appliance/haystack/main.ts',
    env: HAYSTACK_ENV,
    port: 8090,
    listen: { port: 'SERVICE_EDGE_PORT' },
    probe: { path: '/api/health' },
    inContainer: { SERVICE_CONTAINER: '1' },
    hostNetwork: false,
    folders: EDGE_FOLDERS,
  },
  mqtt: {
    about: 'the broker: MQTTS with client certificates',
    main: 'hub/mqtt/main.ts',
    env: MQTT_ENV,
    port: 8883,
    listen: { bind: 'SERVICE_MQTT_BIND', port: 'SERVICE_MQTT_PORT' },
    // A probe without a certificate would be a refusal in the log, twice a minute.
    probe: { heartbeat: HEARTBEAT },
    inContainer: { SERVICE_HEARTBEAT_FILE: HEARTBEAT },
    hostNetwork: false,
    folders: { SERVICE_MQTT_CERT_DIR: '/mqtt' },
  },
  mcp: {
    about: 'tools of agents, over the Model Context Protocol',
    main: 'hub/mcp/main.ts',
    env: HUB_MCP_ENV,
    port: 8092,
    listen: { bind: 'SERVICE_MCP_BIND', port: 'SERVICE_MCP_PORT' },
    probe: { path: '/mcp' },
    inContainer: { SERVICE_MCP_TRANSPORT: 'http', SERVICE_MCP_BIND: '0.0.0.0' },
    hostNetwork: false,
    folders: {},
  },
  retrieval: {
    about: 'search of documents, rules and routes',
    main: 'hub/retrieval/main.ts',
    env: RETRIEVAL_ENV,
    port: 8091,
    listen: { bind: 'SERVICE_RETRIEVAL_BIND', port: 'SERVICE_RETRIEVAL_PORT' },
    probe: { path: '/health' },
    inContainer: { SERVICE_RETRIEVAL_BIND: '0.0.0.0' },
    hostNetwork: false,
    folders: {},
  },
}
