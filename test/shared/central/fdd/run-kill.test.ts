/** A process that is killed in its runs, at every place where one has stored a part of what it does. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import type { Finding } from '#shared/core/findings/finding.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { resultStores } from '#shared/node/store/results.ts'
import { temporaryFolder } from '../../../support/sites/workspace.ts'
import { openBox } from '../../../support/sites/run-box.ts'
import { DEATHS, h, SITE, STEPS, T } from './run-kill-site.ts'
import { DAY } from '#shared/core/time.ts'

const CHILD = fileURLToPath(new URL('run-kill-child.ts', import.meta.url))

const inOrder = (findings: Iterable<Finding>) => [...findings].toSorted((a, b) => (a.finding_id < b.finding_id ? -1 : 1))

/** What somebody knows who heard all that was told, once or twice. */
function heardIn(folder: string): Finding[] {
  const known = new Map<string, Finding>()
  for (const line of readFileSync(join(folder, 'heard'), 'utf8').trim().split('\n')) {
    const { findings, withdrawn } = JSON.parse(line) as { findings: Finding[]; withdrawn: string[] }
    for (const id of withdrawn) known.delete(id)
    for (const finding of findings) known.set(finding.finding_id, finding)
  }
  return inOrder(known.values())
}

test('killed anywhere in its runs, a box finds what one run over all of it finds, and says so', async t => {
  t.deepEqual([...new Set(STEPS.flatMap(({ dies }) => dies ?? []))].toSorted(), [...DEATHS].toSorted())
  const folder = temporaryFolder(t)
  for (const [i, { dies }] of STEPS.entries()) {
    const child = spawn(process.execPath, [CHILD, folder, String(i)], { stdio: ['ignore', 'inherit', 'inherit'] })
    const [code, signal] = await once(child, 'exit')
    t.deepEqual([code, signal], dies ? [null, 'SIGKILL'] : [0, null], `step ${i}`)
  }
  const db = openDatabase(join(folder, 'plenum.db'))
  t.teardown(() => db.close())
  const told = inOrder(resultStores(db).findings.list({ building_id: 'b', limit: 1e6 }))

  const batch = await openBox(t, SITE)
  for (const { samples } of STEPS) await batch.give(samples)
  await batch.run(h(76), { from: T - 3 * DAY, to: h(76) })
  t.true(told.length >= 3, `${told.length} findings`)
  t.deepEqual(told, batch.told())
  t.deepEqual(heardIn(folder), told)
})
