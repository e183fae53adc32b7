import test from 'ava'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { scheduleFdd } from '#shared/flow/fdd/fdd-schedule.ts'
import { wallClock } from '#shared/node/clock.ts'
import { startCentral } from '../../../support/sites/central-site.ts'

const NOON = Date.UTC(2026, 2, 1, 12)
const BUILDING = { building_id: 'b', name: 'B', site_id: 'site-1', timezone: 'UTC', unit_system: 'si' } as const

test('misdated readings are looked at by their own route, page by page, and health counts them', async t => {
  const at = { now: NOON }
  const clock = { now: () => at.now, sleep: wallClock.sleep }
  const site = await startCentral({ clock })
  t.teardown(site.close)
  const { model, misdated } = site.central.context
  model.put({ building: BUILDING })
  const row = (n: number) => ({ building_id: 'b', point_id: `p${n % 2}`, edge_id: 'e1', observed_at: n * 1000, quality: 'good' })
  misdated.keep([1, 2, 3].map(n => ({ ...row(n), arrived_at: NOON - n * MINUTE, value: n, quality: 'good' as const })))
  const get = (query: string) => site.call('viewer', 'GET', `/api/history/misdated?building_id=b${query}`)
  const first = (await get('&limit=2')).body
  t.deepEqual(first.readings[0], {
    building_id: 'b',
    point_id: 'p1',
    edge_id: 'e1',
    observed_at: '1970-01-01T00:00:03Z',
    arrived_at: '2026-03-01T11:57:00Z',
    value: 3,
    quality: 'clock',
    stated_quality: 'good',
  })
  const rest = (await get(`&cursor=${first.next_cursor}`)).body
  t.deepEqual([first.readings.length, rest.readings.length, rest.next_cursor], [2, 1, undefined])
  t.is((await get('&point_id=p0')).body.readings.length, 1)
  t.is((await get(`&cursor=${Buffer.from('x').toString('base64url')}`)).body.code, 'bad_cursor')
  t.is((await site.call('viewer', 'GET', '/api/history/misdated?building_id=x')).body.code, 'unknown_building')
  t.is((await site.call('nobody', 'GET', '/api/history/misdated?building_id=b')).status, 401)

  const check = async () => (await site.call('nobody', 'GET', '/api/health')).body.checks.clock
  t.like(await check(), { status: 'warn', misdated: 3, newest_misdated_age_secs: 180 })
  at.now = NOON + 2 * HOUR
  t.like(await check(), { status: 'ok', misdated: 3 })
})

test('no run begins while the clock of the machine is not set', async t => {
  const at = { now: 30_000 }
  const site = await startCentral({ clock: { now: () => at.now, sleep: wallClock.sleep } })
  t.teardown(site.close)
  const { model, runs } = site.central.context
  model.put({ building: BUILDING })
  t.throws(() => runs.start({ building_id: 'b' }, 'schedule'), { message: /clock of this machine is not set/ })
  const { clock } = (await site.call('nobody', 'GET', '/api/health')).body.checks
  t.is(clock.status, 'warn')
  at.now = NOON
  await t.notThrowsAsync(runs.start({ building_id: 'b' }, 'schedule').report)
})

test('a clock that was years ahead for a while does not put the next run off for years', async t => {
  const at = { now: Date.UTC(2030, 0, 1) }
  const ran: number[] = []
  const ending = new AbortController()
  const ports = {
    clock: {
      now: () => at.now,
      sleep: async (ms: number) => {
        // The time server is reached after the first run.
        at.now = at.now > NOON + 24 * HOUR ? NOON : at.now + ms
        if (at.now > NOON + 4 * HOUR && at.now < NOON + 24 * HOUR) ending.abort()
      },
    },
    intervalHours: () => 3,
    lastRunAt: () => at.now - 4 * HOUR,
    takeTrigger: async () => false,
    askAgain: async () => undefined,
    runAll: async () => ran.push(at.now) > 0,
  }
  await scheduleFdd(ports, ending.signal)
  t.deepEqual(ran, [Date.UTC(2030, 0, 1), NOON + 3 * HOUR])
})
