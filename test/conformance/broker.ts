/** What every broker does with the topics of each identity, tried on the wire. */
import { setTimeout } from 'node:timers/promises'
import type { ExecutionContext, TestFn } from 'ava'
import { connectAsync, type MqttClient } from 'mqtt'
import type { Pair } from '#shared/node/pki/pki.ts'
import { CLIENTS, FILTERS, isMatch, ODD_TOPICS, TOPICS, wholeOf } from './topic-permissions.ts'

/** A running broker with a certificate for each of the clients. */
export type BrokerBench = { port: number; ca_pem: string; pairs: Map<string, Pair> }

type Traits = {
  /**
   * Whether a filter that is not allowed is refused when it is subscribed, some brokers by ending the session; otherwise only its
   * messages are held back.
   */
  refusesFilters: boolean
  /** The protocol in which the broker says that it refuses a message: 5 by its reason code, 4 by ending the session. */
  publishes: 4 | 5
}

/** Rows that are tried: each client with each topic and filter. */
export const ROWS = CLIENTS.length * (TOPICS.length + ODD_TOPICS.length + FILTERS.length)

const nameOf = (topic: string) => (topic.length > 80 ? `${topic.slice(0, 80)}… (${topic.length} characters)` : topic)
const names = CLIENTS.map(({ cn }) => cn)

export async function enter({ port, ca_pem, pairs }: BrokerBench, cn: string, protocolVersion: 4 | 5 = 4): Promise<MqttClient> {
  const { cert_pem: cert, key_pem: key } = pairs.get(cn)!
  const options = { cert, key, ca: ca_pem, clientId: cn, protocolVersion, reconnectPeriod: 0 } as const
  const client = await connectAsync(`mqtts://127.0.0.1:${port}`, options, false)
  client.on('error', () => undefined)
  return client
}

/** @returns whether the broker accepted the message; it also refuses one by ending the session */
export const isPublished = (client: MqttClient, topic: string): Promise<boolean> =>
  new Promise(resolve => {
    const ended = () => resolve(false)
    client.once('close', ended)
    client.publish(topic, topic.slice(0, 200), { qos: 1 }, error => {
      client.off('close', ended)
      resolve(!error)
    })
  })

/** @returns whether the broker granted the filter */
const isGranted = (client: MqttClient, filter: string): Promise<boolean> =>
  new Promise(resolve => {
    const ended = () => resolve(false)
    client.once('close', ended)
    client.subscribe(filter, { qos: 0 }, (error, granted) => {
      client.off('close', ended)
      resolve(!error && granted?.every(({ qos }) => qos < 128) === true)
    })
  })

/** A client with what it has received, by topic. */
type Witness = { client: MqttClient; received: Set<string> }

function listen(client: MqttClient): Witness {
  const received = new Set<string>()
  client.on('message', topic => received.add(topic))
  return { client, received }
}

/** Publishes each topic of the product once, each by a client that may. */
async function publishAll(witnesses: Map<string, Witness>): Promise<void> {
  const clientOf = (cn: string) => witnesses.get(cn)!.client
  await Promise.all(TOPICS.map(({ topic, publish }) => clientOf(publish[0]!).publishAsync(topic, topic, { qos: 1 })))
  // The answer comes behind everything that the broker had sent before.
  await Promise.all([...witnesses.values()].map(({ client }) => isGranted(client, 'none/of/these')))
}

const beyond = (found: Set<string>, expected: Set<string>) => [...found].filter(topic => !expected.has(topic))

/** Waits, at most 5 s, until the topics have come: RabbitMQ may answer a client before it hands over what was published earlier. */
async function awaitTopics({ received }: Witness, topics: Set<string>): Promise<void> {
  const end = Date.now() + 5_000
  while (beyond(topics, received).length > 0 && Date.now() < end) await setTimeout(20)
}

/** The suite. Each broker's test calls it once; `start` opens a broker that ends with the test. */
export function brokerConformance(
  test: TestFn,
  name: string,
  { refusesFilters, publishes }: Traits,
  start: (t: ExecutionContext) => Promise<BrokerBench>,
): void {
  const open = async (t: ExecutionContext) => {
    const bench = await start(t)
    const clients = new Set<MqttClient>()
    t.teardown(() => Promise.all([...clients].map(client => client.endAsync(true))))
    return async (cn: string, version?: 4 | 5) => {
      const client = await enter(bench, cn, version)
      clients.add(client)
      return client
    }
  }

  for (const publisher of names) {
    test(`${name}: ${publisher} publishes to its topics and to no other`, async t => {
      const connect = await open(t)
      const witnesses = new Map<string, Witness>()
      for (const cn of names.filter(other => other !== publisher)) {
        const witness = listen(await connect(cn))
        witnesses.set(cn, witness)
        for (const filter of wholeOf(cn)) t.true(await isGranted(witness.client, filter), `${cn} ${filter}`)
      }
      let client: MqttClient | undefined
      const rows = [...TOPICS, ...ODD_TOPICS.map(topic => ({ topic, publish: [] as string[], receive: [] }))]
      for (const { topic, publish } of rows) {
        if (!client?.connected) client = await connect(publisher, publishes)
        t.is(await isPublished(client, topic), publish.includes(publisher), nameOf(topic))
        if (!publish.includes(publisher) && publishes === 4) await client.endAsync(true)
      }
      for (const [cn, witness] of witnesses) {
        await isGranted(witness.client, 'none/of/these')
        const mayReceive = TOPICS.filter(({ publish, receive }) => publish.includes(publisher) && receive.includes(cn))
        const expected = new Set(mayReceive.map(({ topic }) => topic))
        await awaitTopics(witness, expected)
        t.deepEqual([...witness.received].toSorted(), [...expected].toSorted(), cn)
      }
    })
  }

  test(`${name}: a filter brings what its client may receive, and nothing else`, async t => {
    const connect = await open(t)
    for (const [filter, allowed] of FILTERS) {
      const witnesses = new Map<string, Witness>()
      const join = async (cn: string) => {
        let witness = listen(await connect(cn))
        const granted = await isGranted(witness.client, filter)
        if (refusesFilters || allowed.includes(cn)) t.is(granted, allowed.includes(cn), `${cn} ${filter}`)
        if (!witness.client.connected) witness = listen(await connect(cn))
        witnesses.set(cn, witness)
      }
      await Promise.all(names.map(join))
      await publishAll(witnesses)
      for (const [cn, witness] of witnesses) {
        const mayReceive = TOPICS.filter(({ topic, receive }) => receive.includes(cn) && isMatch(filter, topic))
        const refused = refusesFilters && !allowed.includes(cn)
        const expected = new Set(refused ? [] : mayReceive.map(({ topic }) => topic))
        // A group that shares a subscription receives each message once, and no group is allowed.
        const isShared = filter.startsWith('$share')
        if (!isShared) await awaitTopics(witness, expected)
        t.deepEqual(beyond(witness.received, expected), [], `${cn} ${filter}`)
        if (!isShared) t.deepEqual(beyond(expected, witness.received), [], `${cn} ${filter}`)
      }
      await Promise.all([...witnesses.values()].map(({ client }) => client.endAsync(true)))
    }
  })
}
