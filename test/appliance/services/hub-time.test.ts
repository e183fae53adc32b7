import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import pino from 'pino'
import { hubTimeService } from '#appliance/services/hub-time.ts'
import { SECOND } from '#shared/core/time.ts'
import { folder } from '../../support/folders.ts'

const HUB_TIME = Date.UTC(2026, 10, 24, 12)
const CERT_END = Date.UTC(2027, 0, 1)

/** A box that was started an hour ago, and whose clock is so many ms ahead of the hub's. */
function box(t: ExecutionContext, ahead: number) {
  const file = join(folder(t), 'started')
  const state = { clock_offset_ms: ahead as number | null, cert_not_after: CERT_END as number | null }
  const own = { clock: HUB_TIME + ahead, elapsed: 0, synced: false as boolean | null, forgotten: 0, lines: 0 }
  const service = hubTimeService({
    file,
    hubState: () => state,
    clockWasSet: () => {
      own.forgotten++
      state.clock_offset_ms = null
    },
    log: pino({}, { write: () => void own.lines++ }),
    machine: {
      now: () => own.clock,
      elapsed: () => own.elapsed,
      uptime: () => 3600 + own.elapsed / SECOND,
      isSynced: () => own.synced,
    },
  })
  const pass = (ms: number) => {
    own.clock += ms
    own.elapsed += ms
  }
  return { file, state, own, pass, look: service.look, told: () => (existsSync(file) ? readFileSync(file, 'utf8') : undefined) }
}
const STARTED = `${HUB_TIME / SECOND - 3600}\n`

test('the time of the hub is written as when the box was started, and the same later', async t => {
  for (const ahead of [-3_600_000, -30_000, 30_000, 86_400_000]) {
    const { look, pass, told } = box(t, ahead)
    await look()
    t.is(told(), STARTED, String(ahead))
    pass(60_000)
    await look()
    t.is(told(), STARTED)
  }
})

test('nothing is written for a small difference, one that is not known, or where a time server sets the clock', async t => {
  const { look, told, state, own } = box(t, 90_000)
  await look()
  t.is(told(), STARTED)
  for (const offset of [29_999, -29_999, null]) {
    state.clock_offset_ms = offset
    await look()
    t.is(told(), undefined, String(offset))
  }
  state.clock_offset_ms = 90_000
  own.synced = true
  await look()
  t.is(told(), undefined)
  own.synced = null
  await look()
  t.is(told(), STARTED, 'a machine that does not say')
})

test('a time at which the certificate of the box has ended is not passed on', async t => {
  const { look, told, state } = box(t, -90_000)
  state.cert_not_after = HUB_TIME - 1
  await look()
  t.is(told(), undefined)
  state.cert_not_after = HUB_TIME
  await look()
  t.is(told(), STARTED)
})

test('after the clock was set, what was measured before counts no more, and what has passed is no step', async t => {
  const { look, told, own, pass } = box(t, -7_200_000)
  await look()
  pass(3_600_000)
  await look()
  t.is(own.forgotten, 0)
  own.clock += 7_200_000
  await look()
  t.is(own.forgotten, 1)
  t.is(told(), undefined)
})

test('a folder that is not there is told of once', async t => {
  const { look, file, own, told } = box(t, 90_000)
  const dir = join(file, '..')
  rmSync(dir, { recursive: true })
  await look()
  await look()
  t.is(own.lines, 1)
  mkdirSync(dir)
  await look()
  t.is(told(), STARTED)
})
