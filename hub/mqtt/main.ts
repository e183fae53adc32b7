/** mqtt: the broker alone. */
import { openLog } from '#shared/node/log.ts'
import { runProcess } from '#shared/node/service.ts'
import { settingsOrExit } from '#shared/node/settings.ts'
import { brokerService } from '../broker/broker.ts'
import { readBrokerFiles } from '../broker/files.ts'
import { MQTT_ENV } from './env.ts'

const usage = 'mqtt: the broker, MQTTS with client certificates'
const { settings } = settingsOrExit(usage, MQTT_ENV, process.env, process.argv.slice(2))
const log = openLog('mqtt', settings.SERVICE_LOG_LEVEL)

await runProcess(log, async () => {
  const files = await readBrokerFiles(settings.SERVICE_MQTT_CERT_DIR).catch(error => {
    throw new Error(`SERVICE_MQTT_CERT_DIR: ${error.message}`, { cause: error })
  })
  return [brokerService({ host: settings.SERVICE_MQTT_BIND, port: settings.SERVICE_MQTT_PORT, ...files, log })]
})
