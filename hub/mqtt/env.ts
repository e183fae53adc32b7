import type { VariableTable } from '#shared/core/env.ts'
import { SERVICE_HEARTBEAT_FILE } from '#shared/node/heartbeat.ts'

/** Settings of the MQTT broker process. */
export const MQTT_ENV = {
  SERVICE_MQTT_BIND: { kind: 'text', default: '0.0.0.0', doc: 'address to listen on' },
  SERVICE_MQTT_PORT: { kind: 'integer', default: 8883, min: 1, max: 65_535, doc: 'port to listen on' },
  SERVICE_MQTT_CERT_DIR: {
    kind: 'text',
    default: '/mqtt',
    doc: 'folder with ca.cert.pem, broker.cert.pem, broker.key.pem and crl.pem; of an authority, its key belongs there only when it is an intermediate one',
  },
  SERVICE_RABBITMQ_AUTH_PORT: {
    kind: 'integer',
    default: 8882,
    min: 0,
    max: 65_535,
    doc: 'with --rabbitmq: port on 127.0.0.1 at which RabbitMQ asks for permissions; 0 takes a free one',
  },
  SERVICE_RABBITMQ_NODES: {
    kind: 'text',
    default: '',
    doc: 'with --rabbitmq: names of all nodes of a cluster, separated by commas, such as rabbit@hub-1,rabbit@hub-2',
  },
  SERVICE_HEARTBEAT_FILE,
  SERVICE_LOG_LEVEL: { kind: 'choice', choices: ['debug', 'info', 'warn', 'error'], default: 'info', doc: 'how much is logged' },
} as const satisfies VariableTable
