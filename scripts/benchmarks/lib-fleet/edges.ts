/**
 * The edges of `scripts/bench fleet` in a process of their own: each has the session, the sender and the pauses between attempts of
 * an appliance, and an outbox in memory. Each writes one message a minute; the edges take turns over the minute.
 */
import pino from 'pino'
import { clockOffsetMeter } from '#appliance/core/outbox/clock-offset.ts'
import { OutboxSender } from '#appliance/services/outbox-sender.ts'
import { commonName } from '#shared/core/auth/identity.ts'
import { errorText } from '#shared/core/error-text.ts'
import { packBody, SMALL_MAX, unpackBody } from '#shared/core/telemetry/body.ts'
import { writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { readAck, writeLastWill } from '#shared/core/telemetry/status.ts'
import { MINUTE } from '#shared/core/time.ts'
import { topicBase, topicOf } from '#shared/core/topic/topics.ts'
import { wallClock } from '#shared/node/clock.ts'
import { type Link, mqttLink } from '#shared/node/mqtt.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import { modelOf, POINTS } from '../lib-ingest/load.ts'
import { MemoryOutbox } from './memory-outbox.ts'

export type FleetOrder = { kits: Kit[]; port: number } | 'write' | 'finish' | 'report' | 'stop'
/** Since the last report; delays from writing to acknowledgement, ms. `points`: all that were written. */
export type FleetReport = { up: number; waiting: number; points: number; stored: number; delayP50: number; delayP99: number }

/** How often it is looked which edges are due, ms. */
const TURN_MS = 50
/** Attempts to connect begin at this pace, so that the generator does not measure itself. */
const CONNECTS_PER_TURN = 5

const log = pino({ level: 'silent' })
let edges: Edge[] = []
let delays: number[] = []
let points = 0
let writing: NodeJS.Timeout | undefined

process.on('message', (order: FleetOrder) => {
  if (order === 'write') writeInTurns()
  else if (order === 'finish') clearInterval(writing)
  else if (order === 'report') process.send!(report())
  else if (order === 'stop') process.exit(0)
  else connectAll(order.kits, order.port)
})

function connectAll(kits: Kit[], port: number): void {
  edges = kits.map((kit, i) => new Edge(kit, port, i))
  let next = 0
  const timer = setInterval(() => {
    for (let i = 0; i < CONNECTS_PER_TURN && next < edges.length; i++) edges[next++]!.start()
    if (next === edges.length) clearInterval(timer)
  }, TURN_MS)
}

function writeInTurns(): void {
  const begun = performance.now()
  let turns = 0
  writing = setInterval(() => {
    const due = Math.floor(((performance.now() - begun) / MINUTE) * edges.length)
    for (; turns < due; turns++) edges[turns % edges.length]!.write()
  }, TURN_MS)
}

function report(): FleetReport {
  const sorted = delays.toSorted((a, b) => a - b)
  const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)
  delays = []
  return {
    up: edges.filter(({ isUp }) => isUp).length,
    waiting: edges.reduce((sum, { outbox }) => sum + outbox.waiting(), 0),
    points,
    stored: sorted.length,
    delayP50: at(0.5),
    delayP99: at(0.99),
  }
}

class Edge {
  readonly outbox = new MemoryOutbox(writtenAt => void delays.push(Date.now() - writtenAt))
  isUp = false
  readonly #index: number
  readonly #base: string
  readonly #metadata: Buffer
  readonly #link: Link
  readonly #sender: OutboxSender

  constructor({ edge, ...pair }: Kit, port: number, index: number) {
    this.#index = index
    this.#base = topicBase(edge)
    const model = modelOf(index)
    const { building_id } = model.building
    this.#metadata = packBody(writeMetadata(edge.site_id, edge.edge_id, model))
    this.#link = mqttLink({
      endpoint: () => ({ ...pair, host: '127.0.0.1', port }),
      clientId: commonName({ kind: 'edge', ...edge }),
      will: { topic: `${this.#base}/status`, payload: packBody(writeLastWill('boot')) },
      subscribe: [`${this.#base}/acks`],
      onUp: () => void this.#connected().catch(() => undefined),
      onDown: () => {
        this.isUp = false
        this.#sender.disconnected()
      },
      onMessage: (_topic, payload) => this.#receive(payload),
      log,
    })
    const clocks = clockOffsetMeter()
    this.#sender = new OutboxSender({
      reader: this.outbox,
      edge,
      building: () => building_id,
      clock: wallClock,
      log,
      publish: (topic, body) => this.#link.publish(topicOf(topic), packBody(body)),
      isHeldBack: () => false,
      clocks: () => clocks.messages,
    })
  }

  start(): void {
    this.#link.start()
  }

  write(): void {
    const t = Date.now()
    const readings = Array.from({ length: POINTS }, (_, point) => {
      const v = Math.round(2000 + 500 * Math.sin((t / MINUTE + 7 * point + this.#index) / 120)) / 100
      return { id: `edge-${this.#index}.p${point}`, t, v, q: 'good' as const }
    })
    points += readings.length
    this.outbox.write(readings, t)
  }

  async #connected(): Promise<void> {
    await this.#link.publish(`${this.#base}/metadata`, this.#metadata, { retain: true })
    await this.#link.publish(`${this.#base}/status`, packBody({ online: true, boot_id: 'boot' }), { retain: true })
    this.isUp = true
    this.#sender.connected()
  }

  #receive(payload: Buffer): void {
    const body = unpackBody(payload, SMALL_MAX)
    if (body.ok && 'notices' in body.value) return
    const ack = body.ok ? readAck(body.value) : body
    if (!ack.ok) return fail(ack.reason)
    this.#sender.acknowledged(ack.value).catch((error: unknown) => fail(errorText(error)))
  }
}

function fail(reason: string): void {
  process.stderr.write(`${reason}\n`)
  process.exit(1)
}
