import test from 'ava'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import type { Clock } from '#shared/core/ports.ts'
import { DAY, HOUR } from '#shared/core/time.ts'
import type { StoredHistorian } from '#shared/node/historian/historian.ts'
import { historianService } from '#shared/node/historian/service.ts'

/** A clock that stands still until it is advanced. */
function handClock(start: number) {
  let now = start
  let wake: (() => void) | undefined
  const clock: Clock = {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise(resolve => {
        signal?.addEventListener('abort', () => resolve())
        wake = () => {
          now += ms
          resolve()
        }
      }),
  }
  return { clock, tick: () => wake?.() }
}

test('samples are sealed at their age, turn after turn, also after a turn that failed', async t => {
  const { clock, tick } = handClock(10 * DAY)
  const bounds: number[] = []
  const turns: (() => void)[] = []
  const turn = () => new Promise<void>(resolve => turns.push(resolve))
  const lines: string[] = []
  const log = pino({}, new Writable({ write: (line, _, done) => done(lines.push(String(line)) ? null : undefined) }))
  let stopped = false
  const historian = {
    seal: async ({ before }: { before: number }) => {
      bounds.push(before)
      setImmediate(() => turns.shift()?.())
      if (bounds.length === 2) throw new Error('no space left on the device')
      return { parts: 0, rows: 0 }
    },
    stop: async () => {
      stopped = true
    },
    shrink: async () => undefined,
  } as unknown as StoredHistorian
  const service = historianService(historian, { clock, log, everyMs: HOUR, keepMs: DAY })

  const first = turn()
  await service.start()
  await first
  for (let i = 0; i < 2; i++) {
    const next = turn()
    tick()
    await next
  }
  t.deepEqual(bounds, [9 * DAY, 9 * DAY + HOUR, 9 * DAY + 2 * HOUR])
  t.is(lines.filter(line => line.includes('no space left')).length, 1)
  await service.stop()
  t.true(stopped)
})
