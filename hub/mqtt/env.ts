import type { VariableTable } from '#shared/core/env.ts'

/** Settings of the MQTT broker process. */
export const MQTT_ENV = {
  SERVICE_MQTT_BIND: { kind: 'text', default: '0.0.0.0', doc: 'address to listen on' },
  SERVICE_MQTT_PORT: { kind: 'integer', default: 8883, min: 1, max: 65_535, doc: 'port to listen on' },
  SERVICE_MQTT_CERT_DIR: {
    kind: 'text',
    default: '/mqtt',
    doc: 'folder with ca.cert.pem, broker.cert.pem, broker.key.pem and crl.pem; of an authority, its key belongs there only when it is an intermediate one',
  },
  SERVICE_LOG_LEVEL: { kind: 'choice', choices: ['debug', 'info', 'warn', 'error'], default: 'info', doc: 'how much is logged' },
} as const satisfies VariableTable
