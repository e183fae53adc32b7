/** Readings go to the outbox first and from there into history: after any end of the process, both have a reading or neither. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type ExecutionContext } from 'ava'
import { wallClock } from '#shared/node/clock.ts'
import { MINUTE } from '#shared/core/time.ts'
import type { Sink } from '#shared/core/ports.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { replayIntoHistory } from '#appliance/sinks/outbox-to-history.ts'
import { finding } from '../../support/messages.ts'
import { folder, until } from '../../support/folders.ts'
import { reading, silent, testOutbox } from '../../support/sites/transport-site.ts'
import { withHotRows } from '../../support/sites/hot-rows.ts'

/** A history that fails on request, as on a full disk. */
function memory() {
  const kept: unknown[] = []
  const state = { fails: false }
  const history: Sink = {
    async write(readings) {
      if (state.fails) throw new Error('database or disk is full')
      kept.push(...readings.map(({ v }) => v))
    },
  }
  return { kept, state, history }
}

async function opened(t: ExecutionContext, dir: string, history: Sink) {
  const outbox = await testOutbox(dir, ['hub', 'history'])
  const { sinks, service, trouble } = replayIntoHistory(outbox, outbox.reader('history'), history, silent, wallClock)
  await service.start()
  t.teardown(outbox.close)
  const [first, meanwhile] = sinks
  return { outbox, replay: { write: first.write, meanwhile: meanwhile.write, service, trouble } }
}

test('a reading is in outbox and history when the write returns', async t => {
  const { kept, history } = memory()
  const { outbox, replay } = await opened(t, folder(t), history)
  await Promise.all([1, 2, 3].map(n => replay.write([reading(n)])))
  await outbox.putFindings([finding])
  await replay.write([reading(4), reading(5)])
  t.deepEqual(kept, [1, 2, 3, 4, 5])
  t.like(outbox.reader('history').span(), { acked: 5, last: 5 })
  t.is(outbox.reader('hub').span().acked, 0)
})

test('findings are skipped, also when no reading follows', async t => {
  const { kept, history } = memory()
  const { outbox } = await opened(t, folder(t), history)
  await outbox.putFindings([finding])
  await until(() => outbox.reader('history').span().acked === 1, 'history has skipped the finding')
  t.deepEqual(kept, [])
})

test('a history that fails misses nothing: the replay goes on when it works again, and at a start', async t => {
  const dir = folder(t)
  const { kept, state, history } = memory()
  const first = await opened(t, dir, history)
  await first.replay.write([reading(1)])
  state.fails = true
  await first.replay.write([reading(2)])
  await first.replay.write([reading(3)])
  t.deepEqual(kept, [1])
  const { reason, since } = first.replay.trouble()!
  t.is(reason, 'database or disk is full')
  t.true(since <= Date.now() && since > Date.now() - MINUTE)
  state.fails = false
  await first.replay.write([reading(4)])
  t.deepEqual(kept, [1, 2, 3, 4])
  t.is(first.replay.trouble(), undefined)
  state.fails = true
  await first.replay.write([reading(5)])
  await first.replay.service.stop()
  await first.outbox.close()
  state.fails = false
  await opened(t, dir, history)
  t.deepEqual(kept, [1, 2, 3, 4, 5])
})

test('while the outbox fails, history is written directly, and nothing is written twice when it works', async t => {
  const { kept, history } = memory()
  const { outbox, replay } = await opened(t, folder(t), history)
  await replay.write([reading(1)])
  await replay.meanwhile([reading(1)])
  t.deepEqual(kept, [1])
  await outbox.close()
  await t.throwsAsync(replay.write([reading(2)]), { message: 'the log is closed' })
  await replay.meanwhile([reading(3)])
  t.deepEqual(kept, [1, 2, 3])
})

const WORDS = ['after the outbox', 'after history'] as const
for (const when of WORDS) {
  test(`a process that is killed ${when} was written leaves no reading on one side only`, async t => {
    const dir = folder(t)
    const script = new URL('history-process.ts', import.meta.url).pathname
    let from = 0
    for (const rounds of [3, 5]) {
      const child: ChildProcess = spawn(process.execPath, [script, dir, String(from), String(rounds), when], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const ended = once(child, 'exit')
      for await (const line of createInterface({ input: child.stdout! })) from = Number(line)
      const [code, signal] = await ended
      t.deepEqual([code, signal], [null, 'SIGKILL'])
    }
    const child = spawn(process.execPath, [script, dir, String(from), '0', 'never'], { stdio: ['ignore', 'ignore', 'inherit'] })
    t.deepEqual(await once(child, 'exit'), [0, null])
    const db = openDatabase(join(dir, 'plenum.db'))
    const rows = withHotRows(db).prepare('SELECT value FROM hot_rows ORDER BY ts').pluck().all()
    db.close()
    const outbox = await testOutbox(join(dir, 'outbox'), ['hub', 'history'])
    t.teardown(outbox.close)
    const sent = outbox
      .reader('hub')
      .next(0, 100)
      .flatMap(({ message }) => ('readings' in message ? message.readings.map(({ v }) => v) : []))
    t.is(sent.length, from)
    t.deepEqual(rows, sent)
  })
}
