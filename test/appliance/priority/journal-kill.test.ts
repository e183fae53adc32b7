import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import test, { type ExecutionContext } from 'ava'
import { timesOf } from '../../support/optional.ts'
import { everything, folder, opened } from '../../support/journal-harness.ts'
import { KILLED, strange } from '../../support/journal-written.ts'

const KILLS = timesOf(40, 1000)
const LANES = 2
const CHILD = new URL('journal-child.ts', import.meta.url).pathname

/** Runs a child until it has reported so many visits and a moment has passed. @returns the last record it reported */
async function killed(dir: string, visits: number, momentMs: number): Promise<number> {
  const child = spawn(process.execPath, [CHILD, dir], { stdio: ['ignore', 'pipe', 'inherit'] })
  let reported = 0
  let seen = 0
  for await (const line of createInterface({ input: child.stdout })) {
    reported = Number(line)
    if (++seen === visits) setTimeout(() => child.kill('SIGKILL'), momentMs)
  }
  return reported
}

async function lane(t: ExecutionContext, kills: number, seed: number) {
  const dir = folder(t)
  let last = 0
  for (let round = 0; round < kills; round++) {
    const moment = (seed * 7919 + round * 104_729) % 1000
    const reported = await killed(dir, 1 + (moment % 40), (moment % 17) / 4)
    const journal = await opened(t, { dir, ...KILLED })
    const state = journal.state()
    t.not(state.journal, 'disabled', state.reason)
    t.true(reported > last && state.last >= reported, `${state.last} kept of ${reported} reported`)
    t.is(state.first, Math.max(1, state.last - KILLED.maxRecords + 1))
    const records = everything(journal)
    t.is(records.length, state.last - state.first + 1)
    t.deepEqual(strange(records), [])
    await journal.close()
    last = state.last
  }
}

test(`what was reported is there after SIGKILL at ${KILLS} moments: appending, beginning segments, dropping them`, async t => {
  await Promise.all(Array.from({ length: LANES }, (_, i) => lane(t, KILLS / LANES, i)))
})
