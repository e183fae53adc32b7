/**
 * A complete driver, as an example for CONTRIBUTING.md: it reads numbers over TCP, one text line for each request.
 * `READ 0` is answered by `0 10.5`, or by `0 ?` when the device has no such value.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { Type, type Static } from '@sinclair/typebox'
import { type DriverDefinition, integerField, PORT_MAX, NO_OTHER_FIELDS } from '#appliance/core/catalogue/driver-definition.ts'
import { convertNumber, type Conversion } from '#appliance/core/poll/conversion.ts'
import { sectionOf } from '#appliance/drivers/list.ts'
import { addTraffic, noTraffic } from '#shared/core/poll/traffic.ts'
import { type FieldProtocol, TIMEOUT_MS } from '#appliance/drivers/protocol.ts'
import { DeviceError, type FieldDriver, RTTS_MAX } from '#shared/core/poll/device.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'

const Section = Type.Object({ host: Type.String({ minLength: 1 }), port: integerField(1, PORT_MAX, 'TCP port') }, NO_OTHER_FIELDS)

/** The part that needs no connection; a real driver has it in core/definition.ts, named by one line in drivers/list.ts. */
export const sampleDefinition = {
  name: 'sample',
  title: 'Sample line protocol',
  section: Section,
  telemetry: 'modbus',
  features: { changeNotification: false, priorityArrays: false },
  formatLocation: ({ host, port }) => `${host}:${port}`,
} as const satisfies DriverDefinition<'sample', typeof Section>

/** The part that communicates; a real driver has it in protocol.ts, and a main creates it. */
export const sampleProtocol = ({ now }: { now: () => number }): FieldProtocol => ({
  name: 'sample',
  check: ({ points }) =>
    points.flatMap(({ address }, i) =>
      /^\d{1,4}$/.test(address) ? [] : [{ pointer: `/points/${i}/address`, message: 'an address is a number from 0 to 9999' }],
    ),
  async start() {},
  link: entry => ({
    driver: sampleDriver(sectionOf(entry, sampleDefinition), entry.timeout_ms ?? TIMEOUT_MS, now),
    addresses: new Map(
      entry.points.map(({ point_id, address, kind, scale = 1, offset = 0 }) => [
        point_id,
        { index: Number(address), conversion: { kind, scale, offset } },
      ]),
    ),
  }),
  async stop() {},
  traffic: noTraffic,
})

export type SampleAddress = { index: number; conversion: Conversion }
type Item = { point_id: string; address: SampleAddress }

export function sampleDriver(
  { host, port }: Static<typeof Section>,
  timeoutMs: number,
  now: () => number,
): FieldDriver<SampleAddress> {
  const rtts: number[] = []
  const traffic = noTraffic()
  let pointError: string | null = null

  async function read(items: Item[], signal: AbortSignal): Promise<Reading[]> {
    if (items.length === 0) return []
    pointError = null
    const end = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    const socket = connect({ host, port }).on('error', () => undefined)
    try {
      await once(socket, 'connect', { signal: end })
      const lines = createInterface({ input: socket, signal: end })[Symbol.asyncIterator]()
      const readings: Reading[] = []
      for (const { point_id, address } of items) {
        const sentAt = performance.now()
        socket.write(`READ ${address.index}\n`)
        const { value: line } = await lines.next()
        if (line === undefined) throw new Error(`no answer within ${timeoutMs} ms`)
        if (rtts.push(performance.now() - sentAt) > RTTS_MAX) rtts.shift()
        const v = convertNumber(Number(line.split(' ')[1]), address.conversion)
        if (v === undefined) pointError = `${address.index}: the device has no such value`
        readings.push({ id: point_id, t: now(), v: v ?? null, q: v === undefined ? 'bad' : 'good' })
      }
      return readings
    } catch (error) {
      throw new DeviceError('silent', (error as Error).message)
    } finally {
      addTraffic(traffic, { sent_bytes: socket.bytesWritten, received_bytes: socket.bytesRead })
      socket.destroy()
    }
  }

  return {
    read,
    report: () => ({ rtts: [...rtts], batch_size: null, point_error: pointError, traffic: { ...traffic } }),
    close: async () => undefined,
  }
}
