import anyTest, { type TestFn } from 'ava'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { createCentralOf, openWorkspaceOf } from '#shared/central/process.ts'
import { readEnv } from '#shared/core/env.ts'
import { DAY, formatInstant, HOUR, MINUTE } from '#shared/core/time.ts'
import { dayStart } from '#shared/core/time-zone.ts'
import { wallClock } from '#shared/node/clock.ts'
import { RecentLog } from '#shared/node/recent-log.ts'
import { CENTRAL_ENV } from '#hub/central/env.ts'
import { BUILDING, EQUIPMENT, POINTS, samplesOf, TO, ZONE } from '../../../support/sites/analytics-site.ts'
import { finding } from '../../../support/messages.ts'
import { PASSWORDS, startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

const test = anyTest as TestFn<{ site: TestCentral }>
const building = { building_id: BUILDING, name: 'School', site_id: 's', timezone: ZONE, unit_system: 'us' as const }
/** As much of the history as the past weeks of a score need. */
const KEPT = TO - 45 * DAY

test.before(async t => {
  const clock = { now: () => TO, sleep: wallClock.sleep }
  const site = await startCentral({ clock, screening: true })
  t.context = { site }
  const { model, historian } = site.central.context
  model.put({ building, equipment: EQUIPMENT, points: POINTS })
  for (const [i, point] of POINTS.entries()) {
    await historian.append(
      BUILDING,
      samplesOf(point, i + 1).filter(sample => sample.t >= KEPT),
    )
  }
})
test.after.always(t => t.context.site?.close())

test('economizer: what is asked for is analysed and said in one sentence', async t => {
  const { call } = t.context.site
  const { status, body } = await call('viewer', 'POST', '/api/analytics/economizer', { building_id: BUILDING, dt_min: 4 })
  t.is(status, 200)
  t.deepEqual([body.from, body.to, body.dt_min, body.high_limit], [formatInstant(TO - 30 * DAY), formatInstant(TO), 4, 24])
  const [ahu] = body.equipment
  t.is(ahu.verdict.code, 'warm_air')
  t.regex(ahu.verdict.sentence, /^Outdoor air above 24 °C was let in for \d/)
  t.true(ahu.bins.length >= 5 && ahu.points.length <= 600)
  const hours = Object.values<number>(ahu.hours).reduce((sum, n) => sum + n, 0)
  t.true(Math.abs(hours - 30 * 24) < 1e-6, 'every hour of the span is accounted for')
})

test('economizer: equipment without the roles says which, and one that is not there is refused', async t => {
  const { call } = t.context.site
  const ask = (equipment_ids: string[]) =>
    call('viewer', 'POST', '/api/analytics/economizer', { building_id: BUILDING, equipment_ids })
  const { body } = await ask(['room'])
  t.deepEqual(body.equipment[0].missing_roles, ['ra_t', 'ma_t', 'oa_damper', 'fan_status'])
  t.is(body.equipment[0].verdict.code, 'not_tellable')
  const refused = await ask(['room', 'nowhere'])
  t.deepEqual(
    [refused.status, refused.body.code, refused.body.detail],
    [404, 'unknown_equipment', 'Building school has no equipment nowhere'],
  )
})

test('operations: a day of the building is asked for by its date', async t => {
  const { call } = t.context.site
  const path = `/api/analytics/operations?building_id=${BUILDING}&from=2025-11-02&to=2025-11-03`
  const { status, body } = await call('viewer', 'GET', path)
  t.is(status, 200)
  const from = dayStart(Date.UTC(2025, 10, 2, 12), ZONE)
  t.deepEqual([body.from, body.to], [formatInstant(from), formatInstant(from + 25 * HOUR)])
  t.deepEqual(
    body.days.map(({ date }: { date: string }) => date),
    ['2025-11-02'],
  )
  const [ahu, , room] = body.equipment
  t.true(ahu.known_hours > 20 && ahu.known_hours <= 25)
  t.true(ahu.running_hours > 9 && ahu.running_hours < 13)
  t.deepEqual([ahu.run_role, ahu.fault_hours, room.comfort_limits], ['fan_status', 0, 'set_points'])
  t.is(body.building.running_hours, ahu.running_hours)
})

test('operations as CSV: one line for each equipment', async t => {
  const { call } = t.context.site
  const path = `/api/analytics/operations?building_id=${BUILDING}&from=2025-11-02&to=2025-11-03`
  const { text, headers } = await call('viewer', 'GET', path, undefined, { accept: 'text/csv' })
  t.regex(headers.get('content-type')!, /^text\/csv/)
  const lines = text.trim().split('\r\n')
  t.is(lines.length, 4)
  t.regex(lines[0]!, /^equipment_id,name,equipment_type,fault_hours,findings,open,running_hours/)
  t.regex(lines[1]!, /^ahu,ahu,ahu,0,0,0,\d/)
})

test('operations: history is read again after ten minutes or for another model, findings each time', async t => {
  let now = TO
  const site = await startCentral({ clock: { now: () => now, sleep: wallClock.sleep } })
  t.teardown(site.close)
  const { model, historian, notes } = site.central.context
  model.put({ building, equipment: EQUIPMENT, points: POINTS })
  const fan = POINTS.find(({ role }) => role === 'fan_status')!
  const run = (from: number) => [0, 1, 2].map(i => ({ id: fan.point_id, t: from + i * 15 * MINUTE, v: 1 }))
  await historian.append(BUILDING, run(TO - 3 * HOUR))
  const { equipment_id } = EQUIPMENT[0]!
  const { suppressed_by: _, ...plain } = finding
  site.central.stores.findings.put([{ ...plain, building_id: BUILDING, equipment_id, from: TO - 2 * HOUR }])
  const ask = async () => {
    const path = `/api/analytics/operations?building_id=${BUILDING}&from=${formatInstant(TO - DAY)}&to=${formatInstant(TO + DAY)}`
    const { body } = await site.call('viewer', 'GET', path)
    return [body.history_read_at, body.building.running_hours, body.building.fault_hours]
  }
  const [, hours, faulty] = await ask()
  t.true(hours > 0 && faulty > 0)
  await historian.append(BUILDING, run(TO - HOUR))
  now += 9 * MINUTE
  notes.set({ finding_id: finding.finding_id, ack: 'unacked', not_a_fault: 'a test of the fan' })
  t.deepEqual(await ask(), [formatInstant(TO), hours, 0])
  now += 2 * MINUTE
  const [readAt, more] = await ask()
  t.is(readAt, formatInstant(now))
  t.true(more > hours)
  now += MINUTE
  model.put({ equipment: [{ ...EQUIPMENT[0]!, name: 'Renamed' }] })
  t.is((await ask())[0], formatInstant(now))
})

test('spans that cannot be are refused with their place', async t => {
  const { call } = t.context.site
  const ask = (query: string) => call('viewer', 'GET', `/api/analytics/operations?building_id=${BUILDING}&${query}`)
  const cases: [string, number, string, RegExp][] = [
    ['from=2025-02-30', 400, 'bad_request', /^from takes an instant/],
    ['to=yesterday', 400, 'bad_request', /^to takes an instant/],
    ['from=2025-11-03&to=2025-11-03', 422, 'invalid', /ends before it begins/],
    ['from=2020-01-01&to=2025-11-03', 422, 'invalid', /longer than 732 days/],
  ]
  for (const [query, status, code, detail] of cases) {
    const answer = await ask(query)
    t.deepEqual([answer.status, answer.body.code], [status, code], query)
    t.regex(answer.body.detail, detail)
  }
  const { body } = await call('viewer', 'GET', '/api/analytics/operations?building_id=elsewhere')
  t.is(body.code, 'unknown_building')
})

test('anomalies: the meter that rose on one day is the most unusual, and one point has its hours', async t => {
  const { call } = t.context.site
  const path = `/api/analytics/sql-anomaly/scores?building_id=${BUILDING}`
  const { status, body } = await call('viewer', 'GET', path)
  t.is(status, 200)
  const [first] = body.anomalies
  t.deepEqual([first.point_id, first.equipment_id, first.unit], ['meter.kw', 'meter', 'kW'])
  t.true(first.worst.score > 5 && first.worst.value > first.worst.expected + 30)
  t.is(body.series, undefined)
  const one = await call('viewer', 'GET', `${path}&point_id=meter.kw&min_score=8`)
  t.deepEqual(
    one.body.series.map(({ point_id }: { point_id: string }) => point_id),
    ['meter.kw'],
  )
  t.true(one.body.series[0].hours.length > 100)
  const { body: told } = await call('viewer', 'GET', '/api/analytics/sql-anomaly/status')
  t.deepEqual([told.enabled, told.weeks, told.screened[0].building_id], [true, 8, BUILDING])
  t.is((await call('viewer', 'GET', `${path}&point_id=nothing`)).body.code, 'unknown_point')
})

test('a screening is kept, one that found no history is not', async t => {
  const site = await startCentral({ screening: true })
  t.teardown(site.close)
  const { model, historian, analytics } = site.central.context
  const [start, hours] = [Date.UTC(2025, 5, 1), 60 * 24]
  const end = start + hours * HOUR
  model.put({ building, equipment: EQUIPMENT, points: POINTS.filter(({ point_id }) => point_id === 'meter.kw') })
  const request = { building_id: BUILDING, from: end - 2 * DAY, to: end, equipment_id: undefined, point_id: undefined, least: 5 }
  t.like(await analytics.screening.scores(request), { points_scored: 0, not_scored: { no_data: 1 } })
  const samples = Array.from({ length: hours }, (_, i) => ({ id: 'meter.kw', t: start + i * HOUR, v: 20 + (i % 11) }))
  await historian.append(BUILDING, samples)
  const found = await analytics.screening.scores(request)
  t.is(found.points_scored, 1)
  t.is(await analytics.screening.scores(request), found)
})

test('screening is off unless it is switched on, and its status says so', async t => {
  const site = await startCentral()
  t.teardown(site.close)
  const { status, body } = await site.call('viewer', 'GET', '/api/analytics/sql-anomaly/status')
  t.deepEqual([status, body], [200, { ok: true, enabled: false, weeks: 8, screened: [] }])
  site.central.context.model.put({ building })
  const scores = await site.call('viewer', 'GET', `/api/analytics/sql-anomaly/scores?building_id=${BUILDING}`)
  t.deepEqual([scores.status, scores.body.code], [409, 'screening_disabled'])
})

test('work that nobody waits for any more is ended', async t => {
  const site = await startCentral()
  t.teardown(site.close)
  const { analytics, model } = site.central.context
  model.put({ building })
  const leaving = new AbortController()
  const ended = new Promise<unknown>(resolve => {
    analytics.operations = (_span, gone) =>
      new Promise((_, reject) => {
        gone.addEventListener('abort', () => {
          resolve(gone.reason)
          reject(gone.reason)
        })
        leaving.abort()
      })
  })
  const { body: login } = await site.call('nobody', 'POST', '/api/auth/login', { username: 'viewer', password: PASSWORDS.viewer })
  const asked = fetch(`${site.url}/api/analytics/operations?building_id=${BUILDING}`, {
    signal: leaving.signal,
    headers: { authorization: `Bearer ${login.token}` },
  })
  await t.throwsAsync(asked)
  t.is(((await ended) as Error).message, 'The client has disconnected')
})

test('the setting switches screening on', async t => {
  for (const [value, enabled] of [
    ['1', true],
    [undefined, false],
  ] as const) {
    const workspace = mkdtempSync(join(tmpdir(), 'plenum-analytics-'))
    t.teardown(() => rmSync(workspace, { recursive: true, force: true }))
    const env = {
      SERVICE_DEV_OPEN: '1',
      SERVICE_CENTRAL_BIND: '127.0.0.1',
      SERVICE_WORKSPACE: workspace,
      SERVICE_SQL_ANOMALY_SCREENING: value,
    }
    const read = readEnv(CENTRAL_ENV, { env }, () => '')
    if (!read.ok) return t.fail(read.complaints.join('; '))
    const own = { clock: wallClock, log: pino({ level: 'silent' }) }
    const opened = await openWorkspaceOf(read.settings, own)
    const central = createCentralOf(read.settings, opened, {
      ...own,
      effective: read.effective,
      recent: new RecentLog(),
      service: 'test',
      scheduled: false,
      onFindings: () => undefined,
      health: {
        checks: {},
        counters: () => ({ edges: 0, ingest_ok: 0, ingest_duplicate: 0, ingest_rejected: 0, last_ingest_at: null }),
      },
    })
    t.is(central.context.analytics.screening.status().enabled, enabled)
    for (const service of [...opened.services, ...central.services].toReversed()) await service.stop()
  }
})
