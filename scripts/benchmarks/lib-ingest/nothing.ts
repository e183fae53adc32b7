/** A receiver that stores nothing: it acknowledges each message as it comes, unread but for its stream and number. */
import { connectAsync } from 'mqtt'
import { commonName } from '#shared/core/auth/identity.ts'
import { MESSAGE_MAX, packBody, unpackBody } from '#shared/core/telemetry/body.ts'
import { writeAck } from '#shared/core/telemetry/status.ts'
import { topicsOf } from '#shared/core/topic/rule.ts'
import { topicBase, parseTopic } from '#shared/core/topic/topics.ts'

export type NothingOrder = { cert_pem: string; key_pem: string; ca_pem: string; port: number }

process.once('disconnect', () => process.exit())
process.once('message', (order: NothingOrder) => void receive(order).then(() => process.send!('ready')))

async function receive({ cert_pem, key_pem, ca_pem, port }: NothingOrder): Promise<void> {
  const identity = { kind: 'central', site_id: '*' } as const
  const options = { cert: cert_pem, key: key_pem, ca: ca_pem, clientId: commonName(identity), reconnectPeriod: 0 }
  const client = await connectAsync(`mqtts://127.0.0.1:${port}`, options, false)
  client.on('message', (name, payload) => {
    const topic = parseTopic(name)
    if (topic?.kind !== 'telemetry') return
    const body = unpackBody(payload, MESSAGE_MAX)
    if (!body.ok) return
    const { stream, seq } = body.value as { stream: string; seq: number }
    client.publish(`${topicBase(topic)}/acks`, packBody(writeAck({ stream, through_seq: seq })), { qos: 1 })
  })
  await client.subscribeAsync(topicsOf(identity).subscribe, { qos: 1 })
}
