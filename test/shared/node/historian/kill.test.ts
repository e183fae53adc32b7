import test from 'ava'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { timesOf } from '../../../support/optional.ts'
import type { Found } from './kill-child.ts'
import { temporaryFolder } from '../../../support/sites/workspace.ts'

const CHILD = fileURLToPath(new URL('kill-child.ts', import.meta.url))
const KILLS = timesOf(26, 200)
/** What a child may acknowledge before it is to die, at most, and how long it lives on then: any moment may be the last. */
const ACKNOWLEDGED_MAX = 160
const LINGER_MS = 40
const POINTS = 20

type Acknowledged = { minutes: number; package: number }

/** One life: what the child found at its start, and what it had acknowledged when it was killed. */
async function live(folder: string): Promise<{ found: Found; acknowledged: Acknowledged }> {
  const child = spawn(process.execPath, [CHILD, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  const acknowledged = { minutes: 0, package: 0 }
  let found: Found | undefined
  let left = Math.floor(Math.random() * ACKNOWLEDGED_MAX)
  for await (const line of createInterface(child.stdout)) {
    const said = JSON.parse(line)
    if (found) Object.assign(acknowledged, said)
    else {
      found = said as Found
      Object.assign(acknowledged, { minutes: found.minutes, package: found.package })
    }
    if (left-- === 0) void wait(Math.random() * LINGER_MS).then(() => child.kill('SIGKILL'))
  }
  await exit
  if (!found) throw new Error('the child ended before it was ready')
  return { found, acknowledged }
}

test('killed at any moment, history holds what was acknowledged: once, and with no file too many or too few', async t => {
  const folder = temporaryFolder(t)
  let last: Acknowledged = { minutes: 0, package: 0 }
  const seen = { kills: 0, orphans: 0, unacknowledged: 0, parts: 0, sealed: 0 }
  for (let i = 0; i <= KILLS; i++) {
    const { found, acknowledged } = await live(folder)
    // Samples that were stored but not acknowledged before the kill may be there, but only in whole batches.
    t.true(found.minutes === last.minutes || found.minutes === last.minutes + 1, `${found.minutes} after ${last.minutes}`)
    t.is(found.hot + found.sealed, found.minutes * POINTS, JSON.stringify(found))
    t.true(found.package >= last.package, `package ${found.package} after ${last.package}`)
    t.deepEqual(found.wrong, [])
    seen.kills += 1
    seen.orphans += found.orphans
    seen.unacknowledged += found.minutes - last.minutes
    seen.parts = found.parts
    seen.sealed = found.sealed
    last = acknowledged
  }
  t.true(seen.sealed > 0, 'something was sealed')
  t.log(
    `${seen.kills} kills: ${last.minutes * POINTS} samples acknowledged, 0 lost, 0 doubled; package ${last.package};`,
    `${seen.sealed} rows sealed in ${seen.parts} parts, ${seen.orphans} unlisted files removed, ${seen.unacknowledged} minutes found before they were acknowledged`,
  )
})
