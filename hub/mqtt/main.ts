/** mqtt: the broker alone, or what mosquitto or RabbitMQ needs to take its place. */
import { heartbeatService } from '#shared/node/heartbeat.ts'
import { openLog } from '#shared/node/log.ts'
import { runProcess } from '#shared/node/service.ts'
import { exitWith, settingsOrExit } from '#shared/node/settings.ts'
import { brokerService } from '../broker/broker.ts'
import { openBrokerFiles } from '../broker/files.ts'
import { writeMosquittoFiles } from '../broker/mosquitto.ts'
import { rabbitmqService } from '../broker/rabbitmq.ts'
import { createServiceCertificates } from '../enrol/service-certificates.ts'
import { MQTT_ENV } from './env.ts'

const WRITE_MOSQUITTO = '--mosquitto'
const SERVE_RABBITMQ = '--rabbitmq'
const usage = `mqtt: the broker, MQTTS with client certificates

${WRITE_MOSQUITTO}  writes mosquitto.conf and mosquitto.acl into SERVICE_MQTT_CERT_DIR, the folder of the authority, and ends
${SERVE_RABBITMQ}   writes RabbitMQ's files into SERVICE_MQTT_CERT_DIR/rabbitmq, and answers its questions of permission until it is stopped`
const argv = process.argv.slice(2)
const { settings } = settingsOrExit(usage, MQTT_ENV, process.env, argv, { flags: [WRITE_MOSQUITTO, SERVE_RABBITMQ] })
const { SERVICE_MQTT_BIND: host, SERVICE_MQTT_PORT: port, SERVICE_MQTT_CERT_DIR: dir } = settings
const refuseFolder = (error: Error) => `SERVICE_MQTT_CERT_DIR: ${error.message}`

if (argv.includes(WRITE_MOSQUITTO)) {
  const paths = await writeMosquittoFiles(dir, { host, port }, Date.now()).catch(error => exitWith([refuseFolder(error)]))
  process.stdout.write(`${paths.join('\n')}\n`)
} else {
  const log = openLog('mqtt', settings.SERVICE_LOG_LEVEL)
  await runProcess(log, async () => {
    const files = await openBrokerFiles(dir, log).catch(error => {
      throw new Error(refuseFolder(error), { cause: error })
    })
    const heartbeat = heartbeatService(settings.SERVICE_HEARTBEAT_FILE, () => true, log)
    const certificates = createServiceCertificates({
      ...{ dir, tlsDir: undefined, renew: undefined, log, now: Date.now },
      audit: () => undefined,
    })
    if (!argv.includes(SERVE_RABBITMQ)) {
      return [certificates.service, files.tls, files.revoked, brokerService({ host, port, files, log }), heartbeat]
    }
    const { SERVICE_RABBITMQ_AUTH_PORT: authPort, SERVICE_RABBITMQ_NODES: nodes } = settings
    return [
      certificates.service,
      rabbitmqService({ host, port, dir, authPort, nodes: nodes.split(',').filter(Boolean), log }),
      heartbeat,
    ]
  })
}
