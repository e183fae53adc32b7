/** A full outbox is killed while it downsamples: every quarter of an hour keeps a value, and no newer message is lost. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, watch } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test from 'ava'
import { MINUTE } from '#shared/core/time.ts'
import { folder } from '../../support/folders.ts'
import { timesOf } from '../../support/optional.ts'
import { reading, testOutbox } from '../../support/sites/transport-site.ts'

const QUOTA = 512 * 1024
const KILLS = timesOf(6, 200)
const quarterOf = ({ t }: { t: number }) => Math.floor((t - reading(0).t) / (15 * MINUTE))

test('a full outbox that is killed in the middle of an eviction keeps a value of every quarter of an hour and all newer messages', async t => {
  t.timeout(300_000)
  const dir = folder(t)
  const script = new URL('full-outbox-process.ts', import.meta.url).pathname
  let written = -1
  mkdirSync(join(dir, 'log'))
  for (let kill = 0; kill < KILLS; kill++) {
    const child = spawn(process.execPath, [script, dir, String(written + 1), String(QUOTA)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(child, 'exit')
    const last = written + (kill === 0 ? 15 : 1 + (kill % 3))
    // A segment appears or goes in the middle of an eviction, so every kill waits for that.
    const watched = watch(join(dir, 'log'), event => event === 'rename' && written >= last && child.kill('SIGKILL'))
    for await (const line of createInterface({ input: child.stdout })) written = Number(line)
    await ended
    watched.close()
  }
  const outbox = await testOutbox(dir, ['hub'], QUOTA)
  t.teardown(outbox.close)
  const reader = outbox.reader('hub')
  t.is(reader.note, undefined, 'the log is whole, so its stream goes on')
  const { first, last } = reader.span()
  const left = reader.next(0, 100_000)
  t.deepEqual(
    left.map(({ seq }) => seq),
    Array.from({ length: last - first + 1 }, (_, i) => first + i),
  )
  const readings = left.flatMap(({ message }) => ('readings' in message ? message.readings : []))
  const quarters = new Set(readings.map(quarterOf))
  t.deepEqual(
    Array.from({ length: quarterOf(reading(written * 500 + 499)) + 1 }, (_, n) => n).filter(n => !quarters.has(n)),
    [],
  )
  const whole = left.flatMap(({ message }) => ('readings' in message && !message.thinned ? [message.readings] : []))
  // The page that was being written at a kill may be on the disk and is written again.
  const pages = [...new Set(whole.map(([one]) => Math.round((one!.t - reading(0).t) / 500_000)))]
  t.true(whole.length > 2 && whole.length < written, `${whole.length} whole pages of ${written}`)
  t.deepEqual(
    pages.filter(n => n <= written),
    Array.from({ length: written - pages[0]! + 1 }, (_, i) => pages[0]! + i),
  )
  t.true(whole.every(readings => readings.length === 500))
})
