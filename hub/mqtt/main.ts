/** mqtt: the broker alone. */
import { openLog } from '#shared/node/log.ts'
import { runUntilSignal } from '#shared/node/service.ts'
import { exitWith, settingsOrExit } from '#shared/node/settings.ts'
import { brokerService } from '../broker/broker.ts'
import { readBrokerFiles } from '../broker/files.ts'
import { MQTT_ENV } from './env.ts'

const { settings } = settingsOrExit(
  'mqtt: the broker, MQTTS with client certificates',
  MQTT_ENV,
  process.env,
  process.argv.slice(2),
)
const files = await readBrokerFiles(settings.SERVICE_MQTT_CERT_DIR).catch((error: Error) =>
  exitWith([`SERVICE_MQTT_CERT_DIR: ${error.message}`]),
)
const log = openLog('mqtt', settings.SERVICE_LOG_LEVEL)
const broker = brokerService({ host: settings.SERVICE_MQTT_BIND, port: settings.SERVICE_MQTT_PORT, ...files, log })
await runUntilSignal([broker], log)
