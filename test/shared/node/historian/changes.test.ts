import test from 'ava'
import type { PointRows } from '#shared/core/ports.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { openHistoryChanges } from '#shared/node/historian/changes.ts'
import { openHotRows } from '#shared/node/historian/hot/rows.ts'
import { type Place, temporaryDatabase, temporaryHistorian } from '../../../support/sites/workspace.ts'

const T = Date.UTC(2026, 0, 31, 22)
const at = (minute: number) => T + minute * MINUTE
const sample = (id: string, minute: number, v: number) => ({ id, t: at(minute), v })

let place: Place
const teardowns: (() => unknown)[] = []
test.before(async () => {
  place = await temporaryHistorian({ teardown: end => void teardowns.push(end) })
})
test.after.always(async () => {
  for (const end of teardowns.toReversed()) await end()
})

async function* rowsOf(point_id: string, ...samples: [minute: number, value: number][]): AsyncGenerator<PointRows> {
  const ts = Float64Array.from(samples, ([minute]) => at(minute))
  yield { point_id, series: { ts, values: Float64Array.from(samples, ([, value]) => value) } }
}

/** A building with an hour of minutes that a run has looked at, in the files or still hot. */
async function lookedAt(building_id: string, sealed: boolean) {
  const changes = openHistoryChanges(place.db)
  const { historian } = place
  await historian.append(
    building_id,
    Array.from({ length: 60 }, (_, minute) => sample('p', minute, minute)),
  )
  if (sealed) await historian.seal({ before: at(90) })
  changes.take(building_id)
  changes.settle(building_id, at(60))
  return { changes, historian, open: () => changes.take(building_id) }
}

test.serial('before the first run everything is open, with samples and without', async t => {
  const changes = openHistoryChanges(place.db)
  t.is(changes.take('none'), undefined)
  changes.settle('none', at(0))
  t.is(changes.take('none'), undefined)
  await place.historian.append('first', [sample('p', 5, 1)])
  t.is(changes.take('first'), undefined)
  t.is(changes.take('first'), undefined, 'also when a run took note and failed')
})

for (const sealed of [false, true]) {
  const where = sealed ? 'in the files' : 'hot'

  test.serial(`${where}: new samples open the time from the last run on, also while nothing comes`, async t => {
    const { open, historian } = await lookedAt(`new ${where}`, sealed)
    t.is(open(), at(60))
    await historian.append(`new ${where}`, [sample('p', 61, 1), sample('q', 62, 1)])
    t.is(open(), at(60))
  })

  test.serial(`${where}: one corrected sample among many that are known opens the time from shortly before it on`, async t => {
    const { open, historian } = await lookedAt(`among many ${where}`, sealed)
    const samples = Array.from({ length: 60 }, (_, minute) => sample('p', minute, minute === 40 ? -1 : minute))
    t.deepEqual(await historian.append(`among many ${where}`, samples), { added: 1, duplicate: 59 })
    const from = open()!
    t.true(from > at(10) && from <= at(40), `${(from - at(0)) / 60_000} min`)
  })

  test.serial(`${where}: a late or corrected sample opens the time from itself on, the same value again does not`, async t => {
    const { open, historian, changes } = await lookedAt(`late ${where}`, sealed)
    await historian.append(`late ${where}`, [sample('p', 20, 20), sample('p', 40, 40)])
    t.is(open(), at(60), 'the same values')
    await historian.append(`late ${where}`, [sample('p', 40, -1), sample('p', 30, 30)])
    t.is(open(), at(40), 'a corrected one')
    await historian.append(`late ${where}`, [sample('q', 10, 1)])
    t.is(open(), at(10), 'a late one')
    changes.settle(`late ${where}`, at(90))
    t.is(open(), at(90))
  })

  test.serial(`${where}: a package opens the time from its first change on`, async t => {
    const { open, historian, changes } = await lookedAt(`package ${where}`, sealed)
    const load = (mode: 'merge' | 'replace', ...samples: [number, number][]) =>
      historian.load(`package ${where}`, ['p'], mode, rowsOf('p', ...samples))
    await load('merge', [10, 10], [11, 11])
    t.is(open(), at(60), 'nothing new')
    await load('merge', [10, 10], [12, 77], [13, 13])
    t.is(open(), at(12), 'one value is another')
    changes.settle(`package ${where}`, at(60))
    await load('replace', [30, 30])
    t.is(open(), at(0), 'what was held before is gone')
  })
}

test.serial('what a run took counts again until it is settled', async t => {
  const { open, historian, changes } = await lookedAt('twice', false)
  await historian.append('twice', [sample('p', 30, -1)])
  t.is(open(), at(30))
  await historian.append('twice', [sample('p', 50, -1)])
  t.is(open(), at(30), 'a run that failed')
  await historian.append('twice', [sample('p', 45, -1)])
  changes.settle('twice', at(70))
  t.is(open(), at(45), 'what came after it was taken is left for the next')
  changes.settle('twice', at(70))
  t.is(open(), at(70))
})

test('the mark is in the transaction of the samples', t => {
  const db = temporaryDatabase(t)
  const hot = openHotRows(db)
  const changes = openHistoryChanges(db)
  hot.insert('b', [sample('p', 0, 1)])
  changes.take('b')
  changes.settle('b', T + HOUR)
  const failing = db.transaction(() => {
    hot.insert('b', [sample('p', 1, 1)])
    throw new Error('power cut')
  })
  t.throws(failing, { message: 'power cut' })
  t.is(changes.take('b'), T + HOUR)
  db.transaction(() => hot.insert('b', [sample('p', 1, 1)]))()
  t.is(changes.take('b'), at(1))
})
