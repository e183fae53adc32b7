import test from 'ava'
import { mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PointRows } from '#shared/core/ports.ts'
import { DAY, HOUR } from '#shared/core/time.ts'
import { openDuck } from '#shared/node/historian/duck.ts'
import { loadStaged } from '#shared/node/historian/load/load-staged.ts'
import { MEMORY_MB } from '../../../../support/sites/workspace.ts'
import { bytesOfRun, stageRows, type Staged } from '#shared/node/historian/load/staging.ts'

const FEBRUARY = Date.UTC(2026, 1, 1)

function pathIn(t: { teardown(run: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'plenum-staging-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return join(folder, 'scratch', 'package.staged')
}

async function* rowsOf(...all: [point_id: string, first: number, step: number, count: number][]): AsyncGenerator<PointRows> {
  for (const [point_id, first, step, count] of all) {
    const ts = Float64Array.from({ length: count }, (_, i) => first + i * step)
    yield { point_id, series: { ts, values: ts.map((_, i) => i) } }
  }
}

/** What the file holds, run by run, as the list says. */
function runsIn(path: string, { runs }: Staged) {
  const bytes = readFileSync(path)
  return Array.from({ length: runs.count }, (_, run) => {
    const [n, at] = [runs.rows[run]!, runs.at[run]!]
    const numbers = new Float64Array(bytes.buffer.slice(bytes.byteOffset + at, bytes.byteOffset + at + bytesOfRun(n)))
    return { point: runs.point[run], month: runs.month[run], ts: [...numbers.subarray(0, n)], values: [...numbers.subarray(n)] }
  })
}

test('rows are staged as runs of one point and one month', async t => {
  const path = pathIn(t)
  const staged = await stageRows(path, ['p', 'q'], rowsOf(['q', FEBRUARY - 2 * HOUR, HOUR, 4], ['p', FEBRUARY, DAY, 1]))
  t.deepEqual(runsIn(path, staged), [
    { point: 1, month: Date.UTC(2026, 0, 1), ts: [FEBRUARY - 2 * HOUR, FEBRUARY - HOUR], values: [0, 1] },
    { point: 1, month: FEBRUARY, ts: [FEBRUARY, FEBRUARY + HOUR], values: [2, 3] },
    { point: 0, month: FEBRUARY, ts: [FEBRUARY], values: [0] },
  ])
  const { rows, first, last, ascending } = staged
  t.deepEqual({ rows, first, last, ascending }, { rows: 5, first: FEBRUARY - 2 * HOUR, last: FEBRUARY + HOUR, ascending: true })
})

test('samples that come again, or earlier than before, are not ascending', async t => {
  const again = await stageRows(pathIn(t), ['p'], rowsOf(['p', FEBRUARY, HOUR, 3], ['p', FEBRUARY + 2 * HOUR, HOUR, 1]))
  t.false(again.ascending)
  const beside = await stageRows(pathIn(t), ['p', 'q'], rowsOf(['p', FEBRUARY, HOUR, 3], ['q', FEBRUARY, HOUR, 3]))
  t.true(beside.ascending)
})

test('more runs and bytes than are written at once arrive whole', async t => {
  const path = pathIn(t)
  const many = Array.from({ length: 700 }, (_, i): [string, number, number, number] => ['p', FEBRUARY + i * HOUR, 1, 1000])
  const staged = await stageRows(path, ['p'], rowsOf(...many))
  const found = runsIn(path, staged)
  t.is(found.length, 700)
  t.true(found.every(({ ts, values }, i) => ts[999] === FEBRUARY + i * HOUR + 999 && values[999] === 999))
})

test('a staging file that was cut is not loaded', async t => {
  const path = pathIn(t)
  const { runs, ascending } = await stageRows(path, ['p'], rowsOf(['p', FEBRUARY, HOUR, 3]))
  truncateSync(path, 40)
  const input = { building_id: 'b', staging: path, runs, points: ['p'], ascending, existing: [], epoch: 1 }
  const duck = await openDuck({ memoryMb: MEMORY_MB, spill: undefined })
  t.teardown(duck.close)
  await t.throwsAsync(loadStaged(duck, '/nowhere', input), { message: '40 bytes are staged of 48 that were sent' })
})
