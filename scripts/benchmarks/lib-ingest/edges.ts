/** The edges of `scripts/bench ingest`, in a process of their own: each sends its messages and waits for acknowledgements. */
import { connectAsync, type MqttClient } from 'mqtt'
import { commonName } from '#shared/core/auth/identity.ts'
import { packBody, SMALL_MAX, unpackBody } from '#shared/core/telemetry/body.ts'
import { readAck } from '#shared/core/telemetry/status.ts'
import { topicBase } from '#shared/core/topic/topics.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import { MESSAGES, messagesOf } from './load.ts'

export type EdgesOrder = { kits: Kit[]; port: number; until: number }
/** Time from the first message to the last acknowledgement, ms. */
export type EdgesReport = { ms: number }

/** Messages of one edge that wait for an acknowledgement at most, as the outbox of an appliance sends them. */
const WINDOW = 20
/** How long the receiver may take to know an edge by its metadata before the clock starts, ms. */
const KNOWN_MS = 3000

process.once('message', (order: EdgesOrder) => void run(order).then(report => process.send!(report, () => process.disconnect())))

async function run({ kits, port, until }: EdgesOrder): Promise<EdgesReport> {
  const edges = await Promise.all(kits.map((kit, i) => openEdge(kit, port, i, until)))
  await new Promise(resolve => setTimeout(resolve, KNOWN_MS))
  const begun = performance.now()
  await Promise.all(edges.map(({ send }) => send()))
  const ms = performance.now() - begun
  await Promise.all(edges.map(({ client }) => client.endAsync(true)))
  return { ms }
}

async function openEdge({ cert_pem, key_pem, ca_pem, edge }: Kit, port: number, index: number, until: number) {
  const clientId = commonName({ kind: 'edge', ...edge })
  const base = topicBase(edge)
  const options = { cert: cert_pem, key: key_pem, ca: ca_pem, clientId, reconnectPeriod: 0 }
  const client: MqttClient = await connectAsync(`mqtts://127.0.0.1:${port}`, options, false)
  await client.subscribeAsync(`${base}/acks`, { qos: 1 })
  const { metadata, stream, telemetry } = messagesOf(index, until)
  await client.publishAsync(`${base}/metadata`, metadata, { qos: 1, retain: true })
  await client.publishAsync(`${base}/status`, packBody({ online: true }), { qos: 1, retain: true })

  const send = () =>
    new Promise<void>((resolve, reject) => {
      let [sent, acknowledged] = [0, 0]
      const fill = () => {
        while (sent < MESSAGES && sent - acknowledged < WINDOW) {
          client.publishAsync(`${base}/telemetry/bacnet`, telemetry[sent++]!, { qos: 1 }).catch(reject)
        }
      }
      client.on('message', (_topic, payload) => {
        const body = unpackBody(payload, SMALL_MAX)
        const ack = body.ok ? readAck(body.value) : body
        if (!ack.ok || ack.value.stream !== stream) return
        if (ack.value.rejected?.length) reject(new Error(ack.value.rejected[0]!.reason))
        acknowledged = Math.max(acknowledged, ack.value.through_seq)
        if (acknowledged === MESSAGES) resolve()
        else fill()
      })
      client.on('close', () => reject(new Error(`the session of ${clientId} ended`)))
      fill()
    })
  return { client, send }
}
