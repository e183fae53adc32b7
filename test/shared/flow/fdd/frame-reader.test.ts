import test from 'ava'
import type { Equipment, Point } from '#shared/core/model/model.ts'
import type { HistoryQuery, KeptSamples } from '#shared/core/ports.ts'
import type { Series } from '#shared/core/series/series.ts'
import { MINUTE } from '#shared/core/time.ts'
import { createFrameReader, type FrameRequest } from '#shared/flow/fdd/frame-reader.ts'

const pointOf = (equipment_id: string, role: string, unit: string): Point => {
  const source = { protocol: 'csv', address: '' } as const
  return { building_id: 'b', point_id: `${equipment_id}.${role}`, name: role, kind: 'number', source, equipment_id, role, unit }
}
const unit = (equipment_id: string): Equipment => ({ building_id: 'b', equipment_id, name: equipment_id, equipment_type: 'vav' })
const points = [pointOf('v1', 'zone_t', 'degF'), pointOf('v1', 'damper', 'fraction'), pointOf('v2', 'zone_t', 'degC')]
const TO = 100 * MINUTE

/** A sample every five minutes; every instant is its own value. */
function opened() {
  const asked: HistoryQuery[] = []
  const read = async (query: HistoryQuery) => {
    asked.push(query)
    const ts = Float64Array.from({ length: 20 }, (_, i) => i * 5 * MINUTE).filter(t => t >= query.from && t < query.to)
    return query.point_ids.map(() => ({ ts: ts.slice(), values: ts.slice() }))
  }
  const input = { building_id: 'b', equipment: [unit('v1'), unit('v2')], points, to: TO, visits: {}, firsts: {} }
  return { asked, reader: createFrameReader(input, { read }) }
}

const need = (equipment_id: string, roles: string[]) => ({ equipment_id, roles, visits: [] })
const V1: FrameRequest = { needs: [need('v1', ['zone_t', 'damper'])], from: 10 * MINUTE, state: undefined }
const V2: FrameRequest = { needs: [need('v2', ['zone_t'])], from: 10 * MINUTE, state: undefined }

/** What a run until `to` has read for a reading, from its beginning. */
async function keptUntil(to: number, reading: FrameRequest): Promise<KeptSamples> {
  const { reader } = opened()
  const [first] = await reader.read([reading])
  const series = [...first!.fresh.series].map(([id, { ts, values }]): [string, Series] => {
    const n = ts.findIndex(t => t >= to)
    return [id, { ts: ts.slice(0, n), values: values.slice(0, n) }]
  })
  return { from: reading.from, to, series: new Map(series), pieces: 1 }
}

test('what an earlier run has read is not read again, and the equipment sees the same', async t => {
  const whole = opened()
  const wanted = (await whole.reader.read([V1, V2])).map(({ frames }) => frames())
  t.is(wanted[0]![0]!.roles.zone_t!.ts.length, 18)
  const { asked, reader } = opened()
  const logged = [await keptUntil(50 * MINUTE, V1), await keptUntil(70 * MINUTE, V2)]
  const read = await reader.read([V1, V2].map((reading, i) => ({ ...reading, logged: logged[i] })))
  t.deepEqual(
    read.map(({ frames }) => frames()),
    wanted,
  )
  t.deepEqual(asked, [{ building_id: 'b', point_ids: points.map(({ point_id }) => point_id), from: 50 * MINUTE, to: TO }])
  t.deepEqual(
    read.map(({ fresh: { from, to, series } }) => [from, to, [...series.values()].map(({ ts }) => ts.length)]),
    [
      [50 * MINUTE, TO, [10, 10]],
      [70 * MINUTE, TO, [6]],
    ],
  )
})

test('usual distances that a state remembers are given to the equipment and role that they are of', async t => {
  const state = {
    nominal: {
      'v1\nslot(damper, 8)': 20 * MINUTE,
      'v1\nheld(zone_t)': 30 * MINUTE,
      'v1\ndamper': 7 * MINUTE,
      'v2\nslot(zone_t, 8)': 40 * MINUTE,
    },
  } as unknown as FrameRequest['state']
  const [one, two] = await opened().reader.read([
    { ...V1, state },
    { ...V2, state },
  ])
  t.deepEqual(one!.frames()[0]!.visitMs, { damper: 20 * MINUTE, zone_t: 30 * MINUTE })
  t.deepEqual(two!.frames()[0]!.visitMs, { zone_t: 40 * MINUTE })
})

test('where one point was not read before, all of the equipment is read', async t => {
  const wanted = (await opened().reader.read([V1]))[0]!
  const logged = await keptUntil(50 * MINUTE, { ...V1, needs: [need('v1', ['zone_t'])] })
  const { asked, reader } = opened()
  const [read] = await reader.read([{ ...V1, logged: logged }])
  t.deepEqual(read!.frames(), wanted.frames())
  t.deepEqual(read!.fresh, wanted.fresh)
  t.is(asked[0]!.from, V1.from)
})

test('samples before the instant of a state tell which of the later ones are believed, and are left out', async t => {
  const ts = Float64Array.from({ length: 20 }, (_, i) => i * 5 * MINUTE)
  const zeros = ts.map(at => (at >= 20 * MINUTE && at < 60 * MINUTE ? 0 : 21))
  const read = async ({ point_ids }: HistoryQuery) => point_ids.map(() => ({ ts, values: zeros }))
  const input = { building_id: 'b', equipment: [unit('v2')], points, to: TO, visits: {}, firsts: {} }
  const state = { at: 50 * MINUTE } as unknown as FrameRequest['state']
  const [batch] = await createFrameReader(input, { read }).read([{ ...V2, from: 0, state }])
  const { ts: times, values, read: asRead } = batch!.frames()[0]!.roles.zone_t!
  t.deepEqual([times[0], ...values], [50 * MINUTE, Number.NaN, Number.NaN, 21, 21, 21, 21, 21, 21, 21, 21])
  t.deepEqual([...asRead!], [0, 0, 21, 21, 21, 21, 21, 21, 21, 21])
})
