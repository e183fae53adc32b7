import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import test, { type ExecutionContext } from 'ava'
import { timesOf } from '../../support/optional.ts'
import { allRecords, journalFolder, openJournal } from '../../support/journal-harness.ts'
import { SMALL_JOURNAL, deviations } from '../../support/journal-written.ts'

const KILLS = timesOf(40, 1000)
const PARALLEL = 2
const CHILD = new URL('journal-child.ts', import.meta.url).pathname

/** Kills a child some time after it acknowledged this many visits. @returns the last record it acknowledged */
async function runAndKill(dir: string, visits: number, momentMs: number): Promise<number> {
  const child = spawn(process.execPath, [CHILD, dir], { stdio: ['ignore', 'pipe', 'inherit'] })
  let reported = 0
  let seen = 0
  for await (const line of createInterface({ input: child.stdout })) {
    reported = Number(line)
    if (++seen === visits) setTimeout(() => child.kill('SIGKILL'), momentMs)
  }
  return reported
}

async function killRepeatedly(t: ExecutionContext, kills: number, seed: number) {
  const dir = journalFolder(t)
  let last = 0
  for (let round = 0; round < kills; round++) {
    const moment = (seed * 7919 + round * 104_729) % 1000
    const reported = await runAndKill(dir, 1 + (moment % 40), (moment % 17) / 4)
    const journal = await openJournal(t, { dir, ...SMALL_JOURNAL })
    const state = journal.state()
    t.not(state.journal, 'disabled', state.reason)
    t.true(reported > last && state.last >= reported, `${state.last} stored of ${reported} acknowledged`)
    t.is(state.first, Math.max(1, state.last - SMALL_JOURNAL.maxRecords + 1))
    const records = allRecords(journal)
    t.is(records.length, state.last - state.first + 1)
    t.deepEqual(deviations(records), [])
    await journal.close()
    last = state.last
  }
}

test(`no acknowledged record is lost by SIGKILL at ${KILLS} moments while segments are written, begun and dropped`, async t => {
  await Promise.all(Array.from({ length: PARALLEL }, (_, i) => killRepeatedly(t, KILLS / PARALLEL, i)))
})
