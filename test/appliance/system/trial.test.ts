/** What a version on trial says about itself, in the folder that the system of the box reads. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { updateCheck } from '#appliance/services/health-checks.ts'
import { trialService } from '#appliance/system/trial.ts'
import { openUpdates } from '#appliance/system/updates.ts'
import type { HealthCheck } from '#shared/central/context.ts'
import { folder } from '../../support/folders.ts'
import { SILENT } from '../../support/sites/catalogue-site.ts'

const VERSION = '1.2.0+0123456789ab'
/** As the public health of a box has it, with more than is asked for. */
const BEFORE = {
  ok: true,
  service: 'appliance',
  checks: { poll: { status: 'ok', points_ok: 2, points_down: 0 }, hub: { status: 'ok', state: 'up', backlog: 0 } },
}
const NOW = { points_ok: 2, hub: { state: 'up' }, journal: { journal: 'ok' } }

function box(t: ExecutionContext, state = 'trying', before: unknown = BEFORE) {
  const path = folder(t)
  const tell = (to: string, version = VERSION) => {
    const told = { state: to, version, slot: 'B', reason: '', at: '2026-01-02T03:04:05Z' }
    writeFileSync(join(path, 'state.json'), JSON.stringify(told))
  }
  tell(state)
  if (before !== null) writeFileSync(join(path, 'before.json'), JSON.stringify(before))
  return { path, tell, updates: openUpdates(path) }
}

test('a version is on trial from its installation until it is confirmed, and only that version', t => {
  const { updates, tell } = box(t)
  for (const state of ['installing', 'installed', 'trying']) {
    tell(state)
    t.like(updates.healthBefore(VERSION), { checks: { poll: { points_ok: 2 }, hub: { state: 'up' } } })
    t.is(updates.healthBefore('1.1.0+0123456789ab'), undefined)
  }
  for (const state of ['confirmed', 'refused', 'failed', 'rolled_back']) {
    tell(state)
    t.is(updates.healthBefore(VERSION), undefined)
  }
  t.is(openUpdates(undefined).healthBefore(VERSION), undefined)
})

test('a record of the health before that is missing or broken demands nothing', t => {
  t.deepEqual(box(t, 'trying', null).updates.healthBefore(VERSION), { checks: {} })
  t.deepEqual(box(t, 'trying', { checks: { poll: { points_ok: 'many' } } }).updates.healthBefore(VERSION), { checks: {} })
})

test('health fails while a version on trial lacks what worked before, and at no other time', t => {
  const { updates, tell } = box(t)
  t.deepEqual(updateCheck(updates.healthBefore(VERSION), NOW), { status: 'ok', on_trial: true })
  const without = { ...NOW, hub: { state: 'connecting' } }
  const check = updateCheck(updates.healthBefore(VERSION), without)
  t.is(check.status, 'fail')
  t.is(check.detail, 'since the update: uplink: the hub was connected before and is not')
  tell('confirmed')
  t.deepEqual(updateCheck(updates.healthBefore(VERSION), without), { status: 'ok', on_trial: false })
})

test('what fails on trial is written for the system of the box, and taken back when it works', async t => {
  const { path, updates } = box(t)
  const checks: Record<string, HealthCheck> = {
    poll: { status: 'fail', detail: 'readings cannot be stored: disk' },
    hub: { status: 'warn', detail: 'not a reason to go back' },
    update: { status: 'fail', detail: 'since the update: uplink' },
  }
  const service = trialService({ updates, version: VERSION, checks: async () => checks, log: SILENT }, 5)
  await service.start()
  const written = () => (existsSync(join(path, 'trial.txt')) ? readFileSync(join(path, 'trial.txt'), 'utf8') : undefined)
  const until = async (text: string) => {
    while (written() !== text) await sleep(5)
    t.is(written(), text)
  }
  await until('poll: readings cannot be stored: disk. update: since the update: uplink\n')
  for (const name of ['poll', 'update']) checks[name] = { status: 'ok' }
  await until('\n')
  await service.stop()
})

test('a version that is confirmed writes nothing', async t => {
  const { path, updates } = box(t, 'confirmed')
  const checks = async () => t.fail() as never
  const service = trialService({ updates, version: VERSION, checks, log: SILENT }, 1)
  await service.start()
  await sleep(20)
  await service.stop()
  t.false(existsSync(join(path, 'trial.txt')))
})
