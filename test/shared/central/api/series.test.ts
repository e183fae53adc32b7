/** What plots of a building are drawn from. */
import test from 'ava'
import type { TestCentral } from '../../../support/sites/central-site.ts'
import { startWarm } from '../../../support/sites/warm-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startWarm()
  const { status, text } = await site.call('operator', 'POST', '/api/fdd/run', { building_id: 'b1' })
  if (status !== 200) throw new Error(text)
})
test.after.always(() => site?.close())

const series = (query: string, headers = {}) =>
  site.call('viewer', 'GET', `/api/fdd/series?building_id=b1&equipment_id=AHU-1&${query}`, undefined, headers)
type Point = { t: string; mean: number | null }
test.serial('a series has its full span, its gap as a gap and the faults of its time', async t => {
  const { body } = await series('rule_id=TEST-WARM')
  t.like(body, { from: '2026-03-01T06:00:00Z', to: '2026-03-03T05:55:00.001Z', downsampled: false, overrides: [] })
  const [{ points, unit, no_data }] = body.series
  t.is(unit, 'degF')
  t.deepEqual(no_data, [{ from: '2026-03-02T06:10:00Z', to: '2026-03-02T10:00:00Z' }])
  t.deepEqual(
    points.filter(({ mean }: Point) => mean === null).map((point: Point) => point.t),
    ['2026-03-02T06:10:00Z'],
  )
  t.is(points.length, 576 - 48 + 1)
  t.deepEqual(
    body.faults.map(({ rule_id, from }: { rule_id: string; from: string }) => [rule_id, from]),
    [['TEST-WARM', '2026-03-01T12:00:00Z']],
  )
})

test.serial('a long series comes in at most as many buckets as asked for, and holds every extreme', async t => {
  const { body } = await series('roles=sa_t,oa_t,ra_rh&max_points=40')
  t.true(body.downsampled)
  t.deepEqual(body.missing_roles, ['ra_rh'])
  t.is(body.series.length, 2)
  for (const { points } of body.series) t.true(points.filter(({ mean }: Point) => mean !== null).length <= 40)
  const [{ points, no_data }] = body.series
  const gap = Date.parse('2026-03-02T08:00:00Z')
  t.true(no_data.some(({ from, to }: { from: string; to: string }) => Date.parse(from) <= gap && gap < Date.parse(to)))
  t.true(points.some(({ mean }: Point) => mean === null))
  t.is(Math.max(...body.series[0].points.map(({ max }: { max: number | null }) => max ?? 0)), 80)
  const part = await series('point_id=AHU-1.OAT&from=2026-03-01T06:00:00Z&to=2026-03-01T07:00:00Z')
  t.is(part.body.series[0].points.length, 12)
})

for (const [query, at] of [
  ['from=2027-01-01T00:00:00Z', '2027-01-01T00:00:00Z'],
  ['to=2020-01-01T00:00:00Z', '2020-01-01T00:00:00Z'],
] as const) {
  test.serial(`a series with only ${query}, where no history is, is empty`, async t => {
    const { status, body } = await series(`point_id=AHU-1.SAT&${query}`)
    t.is(status, 200)
    t.like(body, { from: at, to: at, downsampled: false, faults: [] })
    t.deepEqual([body.series[0].points, body.series[0].no_data], [[], []])
  })
}

test.serial('a series comes as CSV too', async t => {
  const { text, headers } = await series('point_id=AHU-1.SAT&to=2026-03-01T06:10:00Z', { accept: 'text/csv' })
  t.regex(headers.get('content-type')!, /^text\/csv/)
  t.deepEqual(text.split('\r\n'), [
    'timestamp_utc,point_id,role,unit,min,max,mean,last',
    '2026-03-01T06:00:00Z,AHU-1.SAT,sa_t,degF,55,55,55,55',
    '2026-03-01T06:05:00Z,AHU-1.SAT,sa_t,degF,55,55,55,55',
    '',
  ])
})

for (const [query, status, code] of [
  ['point_id=nothing', 404, 'unknown_point'],
  ['roles=ra_rh', 404, 'unknown_point'],
  ['roles=sa_t,sa_temp', 400, 'bad_request'],
  ['roles=sa_t,', 400, 'bad_request'],
  ['rule_id=NOTHING', 404, 'unknown_rule'],
  ['', 400, 'bad_request'],
  ['point_id=AHU-1.SAT&roles=sa_t', 400, 'bad_request'],
  ['point_id=AHU-1.SAT&from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z', 422, 'invalid'],
  ['point_id=AHU-1.SAT&max_points=0', 400, 'bad_request'],
] as const) {
  test.serial(`a series of ${query || 'nothing'} is answered with ${code}`, async t => {
    const answer = await series(query)
    t.deepEqual([answer.status, answer.body.code], [status, code])
  })
}
