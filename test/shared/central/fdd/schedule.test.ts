import test from 'ava'
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { join } from 'node:path'
import { openPlatformConfig } from '#shared/central/fdd/config.ts'
import { runEverything } from '#shared/central/fdd/service.ts'
import { openTrigger } from '#shared/central/fdd/trigger.ts'
import type { Clock } from '#shared/core/ports.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { scheduleFdd } from '#shared/flow/fdd/fdd-schedule.ts'
import { edgeRecord } from '../../../support/sites/edge-record.ts'
import { startCentral } from '../../../support/sites/central-site.ts'

const NOW = Date.UTC(2026, 2, 1)

type Step = { at: number; what: string }
/** Lets the schedule run over a stretch of time in which every wait is over at once. */
async function watch(
  hours: number,
  given: { lastRunAt?: number; triggers?: number[]; interval?: (at: number) => number; runMs?: number; readyAt?: number },
): Promise<Step[]> {
  const ending = new AbortController()
  const steps: Step[] = []
  const triggers = [...(given.triggers ?? [])]
  let now = NOW
  const clock: Clock = {
    now: () => now,
    sleep: async ms => {
      now += Math.max(1, ms)
      if (now >= NOW + hours * HOUR) ending.abort()
    },
  }
  const ports = {
    clock,
    intervalHours: () => given.interval?.(now) ?? 3,
    lastRunAt: () => given.lastRunAt,
    takeTrigger: async () => {
      const [next] = triggers
      if (next === undefined || next > now) return false
      triggers.shift()
      return true
    },
    askAgain: async () => void triggers.unshift(now),
    runAll: async (trigger: string) => {
      if (now < (given.readyAt ?? 0)) return false
      steps.push({ at: (now - NOW) / HOUR, what: trigger })
      now += given.runMs ?? 0
      return true
    },
  }
  await scheduleFdd(ports, ending.signal)
  return steps
}

for (const [what, hours, given, wanted] of [
  ['that never ran waits one interval', 10, {}, [3, 6, 9]],
  ['that ran two hours ago waits for the rest', 10, { lastRunAt: NOW - 2 * HOUR }, [1, 4, 7]],
  ['that ran long ago runs at once', 4, { lastRunAt: NOW - 5 * DAY }, [0, 3]],
  ['whose last run lies in the future waits one interval', 4, { lastRunAt: NOW + DAY }, [3]],
  ['that is triggered runs within a minute and starts to wait anew', 7, { triggers: [NOW + 90 * MINUTE] }, [1.5, 4.5]],
  ['whose interval is changed obeys within a minute', 5, { interval: (at: number) => (at >= NOW + HOUR ? 1 : 3) }, [1, 2, 3, 4]],
  ['that takes an hour waits an interval after its end', 9, { runMs: HOUR }, [3, 7]],
] as const) {
  test(`a schedule ${what}`, async t => {
    const steps = await watch(hours, given as Parameters<typeof watch>[1])
    t.deepEqual(
      steps.map(({ at }) => Math.round(at * 60) / 60),
      [...wanted],
    )
  })
}

test('a trigger is told from the schedule, and one trigger makes one run', async t => {
  const steps = await watch(4, { triggers: [NOW, NOW] })
  t.deepEqual(
    steps.map(({ what }) => what),
    ['file', 'file', 'schedule'],
  )
})

test('what could not run when it was asked for or due runs within a minute once it can', async t => {
  const readyAt = NOW + 2 * HOUR
  t.deepEqual(await watch(4, { triggers: [NOW + HOUR], readyAt }), [{ at: 2, what: 'file' }])
  t.deepEqual(await watch(4, { lastRunAt: NOW - 3 * HOUR, readyAt }), [{ at: 2, what: 'schedule' }])
})

test('the trigger file is gone before the run begins', async t => {
  const workspace = mkdtempSync(join(tmpdir(), 'plenum-trigger-'))
  t.teardown(() => rmSync(workspace, { recursive: true }))
  const trigger = openTrigger(workspace)
  t.false(await trigger.take())
  await trigger.ask()
  t.true(existsSync(join(workspace, 'config', '.run_fdd_now')))
  t.true(await trigger.take())
  t.false(trigger.isAsked())
  t.false(await trigger.take())
})

test('what asks for a run and cannot be removed asks once, and health says so until it is gone', async t => {
  const site = await startCentral({ scheduled: true })
  const { schedule } = site.central
  t.teardown(async () => {
    for (const service of schedule.toReversed()) await service.stop()
    await site.close()
  })
  const trigger = openTrigger(site.workspace)
  const path = join(site.workspace, 'config', '.run_fdd_now')
  mkdirSync(path, { recursive: true })
  for (const service of schedule) await service.start()
  const fdd = async () => (await site.call('viewer', 'GET', '/api/health/details')).body.checks.fdd
  while ((await fdd()).status === 'ok') await setImmediate()
  t.regex((await fdd()).detail, /cannot be removed/)
  t.deepEqual([await trigger.take(), await trigger.take()], [true, false])
  t.regex(trigger.fault()!, /config\/\.run_fdd_now asks for a run and cannot be removed/)
  const { status, body } = await site.call('admin', 'POST', '/run-fdd')
  t.deepEqual([status, body.code], [503, 'not_ready'])
  rmdirSync(path)
  t.false(await trigger.take())
  t.is(trigger.fault(), undefined)
  t.is((await site.call('admin', 'POST', '/run-fdd')).status, 202)
  t.true(await trigger.take())
})

test('settings changed by hand count at once; a file that cannot be understood leaves the last good ones', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'plenum-config-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'platform.json')
  const defaults = { rules_dir: '/rules', rule_interval_hours: 3, lookback_days: 3 }
  const config = openPlatformConfig(path, defaults)
  t.deepEqual(config.read(), defaults)
  writeFileSync(path, '{"lookback_days": 7}')
  t.deepEqual(config.read(), { ...defaults, lookback_days: 7 })
  for (const [text, fault] of [
    ['{"lookback_days": 0}', /lookback_days takes a number from 1 to 31, not 0/],
    ['{"rule_interval_hours": "3"}', /rule_interval_hours/],
    ['{"lookback": 7}', /unknown setting lookback; the settings are rules_dir, rule_interval_hours, lookback_days/],
    ['{"rules_dir": 7}', /rules_dir takes a path, not 7/],
    ['[]', /not a JSON object/],
    ['{', /not valid JSON/],
  ] as const) {
    writeFileSync(path, text)
    t.is(config.read().lookback_days, 7)
    t.regex(config.fault()!, fault)
    t.throws(() => openPlatformConfig(path, defaults), { message: fault })
  }
  await config.write({ ...defaults, lookback_days: 2 })
  t.is(config.fault(), undefined)
  t.is(openPlatformConfig(path, defaults).read().lookback_days, 2)
})

test('a scheduled run passes over history that ended long ago; one that is asked for does not', async t => {
  const site = await startCentral()
  t.teardown(site.close)
  const { context, historian } = site.central
  const building = { name: 'B', site_id: 's', timezone: 'UTC', unit_system: 'si' } as const
  for (const building_id of ['old', 'live', 'empty']) context.model.put({ building: { ...building, building_id } })
  await historian.append('old', [{ id: 'p', t: NOW - 365 * DAY, v: 1 }])
  await historian.append('live', [{ id: 'p', t: Date.now() - MINUTE, v: 1 }])
  t.deepEqual(
    (await runEverything(context, 'schedule')).reports.map(({ building_id }) => building_id),
    ['live'],
  )
  t.deepEqual((await runEverything(context, 'file')).reports.map(({ building_id }) => building_id).toSorted(), [
    'empty',
    'live',
    'old',
  ])
})

test('rules run over no building whose edge says that it runs them, whoever asks, but over one whose edge only polls', async t => {
  const site = await startCentral()
  t.teardown(site.close)
  const { context, historian } = site.central
  const building = { name: 'B', site_id: 's', timezone: 'UTC', unit_system: 'si' } as const
  for (const [building_id, status_body] of Object.entries({
    polled: { runs_rules: false },
    judged: { runs_rules: true },
    silent: {},
  })) {
    context.model.put({ building: { ...building, building_id } })
    context.edges.put(edgeRecord({ site_id: 's', edge_id: `of-${building_id}`, building_id, status_body }))
    await historian.append(building_id, [{ id: 'p', t: Date.now() - MINUTE, v: 1 }])
  }
  for (const trigger of ['schedule', 'file', 'request'] as const) {
    const { reports } = await runEverything(context, trigger)
    t.deepEqual([trigger, reports.map(({ building_id }) => building_id)], [trigger, ['polled', 'silent']])
  }
})

test('a workspace survives a restart with its model and its tokens', async t => {
  const workspace = mkdtempSync(join(tmpdir(), 'plenum-restart-'))
  t.teardown(() => rmSync(workspace, { recursive: true }))
  const first = await startCentral({ workspace })
  const session = await first.call('admin', 'POST', '/api/auth/agent-token')
  first.central.context.model.put({ building: { building_id: 'b', name: 'B', site_id: 's', timezone: 'UTC', unit_system: 'si' } })
  await first.close()
  const second = await startCentral({ workspace })
  t.teardown(second.close)
  const me = await second.call('nobody', 'GET', '/api/auth/me', undefined, { authorization: `Bearer ${session.body.token}` })
  t.like(me.body, { username: 'agent', role: 'operator' })
  t.is((await second.call('viewer', 'GET', '/api/model/buildings')).body.buildings.length, 1)
})

test('a workspace that cannot be written is an error that names it', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'plenum-no-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'file'), '')
  const error = await t.throwsAsync(startCentral({ workspace: join(folder, 'file', 'below') }))
  t.true(error.message.includes(join(folder, 'file')), error.message)
})
