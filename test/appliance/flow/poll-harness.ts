/** Devices that do as a script says, polled on a clock that stands still between polls. */
import type { ExecutionContext } from 'ava'
import { type Board, openBoard, pollStatusOf } from '#shared/core/poll/poll-status.ts'
import { DeviceError, type DevicePlan, type FieldDriver } from '#shared/core/poll/device.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { SECOND } from '#shared/core/time.ts'
import { openPolling, type PolledDevice, type PollEvent } from '#appliance/flow/poll.ts'
import { virtualClock } from '../../support/virtual-clock.ts'

export const START = Date.UTC(2026, 2, 1)
type Clock = ReturnType<typeof virtualClock>
export type Answer = (point_id: string, now: number) => Reading

export type DeviceScript = {
  id: string
  secs?: number[]
  answer?: Answer
  isDead?: (now: number) => boolean
  takesMs?: number
  /** Points of these periods are subscribed; `watch` sends their notifications. */
  cov?: boolean
  watch?: FieldDriver<unknown>['watch']
}

export const good: Answer = (id, t) => ({ id, t, v: 1, q: 'good' })
export const bad: Answer = (id, t) => ({ id, t, v: null, q: 'bad' })

export function scripted(
  clock: Clock,
  { id, secs = [60], answer = good, isDead = () => false, takesMs = 20, cov, watch }: DeviceScript,
): PolledDevice {
  const plan: DevicePlan = {
    device_id: id,
    enabled: true,
    points: secs.map((poll_secs, i) => ({ point_id: `${id}.${i}`, poll_secs, ...(cov && { cov }) })),
  }
  return {
    plan,
    addresses: new Map(plan.points.map(({ point_id }) => [point_id, point_id])),
    driver: {
      async read(points, signal) {
        await clock.sleep(isDead(clock.now()) ? 9 * SECOND : takesMs, signal)
        if (signal.aborted || isDead(clock.now())) throw new DeviceError('silent', 'no answer')
        return points.map(({ point_id }) => answer(point_id, clock.now()))
      },
      report: () => ({ rtts: [takesMs], batch_size: 10, point_error: null }),
      ...(watch && { watch }),
      async close() {},
    },
  }
}

export function run(
  t: ExecutionContext,
  scripts: DeviceScript[],
  { write }: { write?: (readings: Reading[]) => Promise<void> } = {},
) {
  const clock = virtualClock(START)
  const devices = scripts.map(script => scripted(clock, script))
  const board: Board = openBoard(
    devices.map(({ plan }) => plan),
    START,
  )
  const readings: Reading[] = []
  const events: PollEvent[] = []
  const keep = { write: async (batch: Reading[]) => void readings.push(...batch) }
  const sinks = write ? [{ write }, keep] : [keep]
  const polling = openPolling({ sinks, clock, board, notify: event => events.push(event) })
  void polling.follow(devices)
  const end = () => polling.stop()
  t.teardown(end)
  return { clock, readings, events, end, status: () => pollStatusOf(board, { running: true, now: clock.now() }) }
}
export const countOf = (readings: Reading[], id: string) => readings.filter(reading => reading.id === id).length
