import test from 'ava'
import Sqlite from 'better-sqlite3'
import { readdirSync, readFileSync } from 'node:fs'

const MIGRATIONS = new URL('../../../shared/node/migrations/', import.meta.url)
/** Tables that a hub grows without an end, or to hundreds of thousands of rows. */
const LARGE = [
  'audit',
  'findings',
  'notes',
  'points',
  'latest_results',
  'alert_deliveries',
  'samples',
  'hot_samples',
  'hot_chunks',
  'parts',
  'part_points',
]

type Step = { id: number; parent: number; detail: string }

/** Tables that a statement goes through from end to end once for each row of another one. */
function repeatedScans(plan: Step[]): string[] {
  const byId = new Map(plan.map(step => [step.id, step]))
  const isRepeated = ({ parent }: Step): boolean => {
    const above = byId.get(parent)
    return above !== undefined && (above.detail.startsWith('CORRELATED') || isRepeated(above))
  }
  return plan.flatMap(step => {
    const table = /^SCAN (\w+)/.exec(step.detail)?.[1]
    return table !== undefined && LARGE.includes(table) && isRepeated(step) ? [table] : []
  })
}

const FILES = readdirSync(MIGRATIONS)
  .filter(file => file.endsWith('.sql'))
  .toSorted()

test('migrations are numbered without a gap and none twice, because a database counts them', t => {
  t.deepEqual(
    FILES.map(name => Number.parseInt(name, 10)),
    FILES.map((_, i) => i + 1),
  )
})

test('no migration goes through a large table once for each row of another one', t => {
  const db = new Sqlite(':memory:')
  t.teardown(() => db.close())
  for (const name of FILES) {
    const text = readFileSync(new URL(name, MIGRATIONS), 'utf8').replaceAll(/--.*$/gm, '')
    // A statement ends its line with a semicolon; those in the body of a trigger are indented or end with END.
    for (const statement of text.split(/;\s*\n(?=\S|$)(?!END)/).filter(part => part.trim() !== '')) {
      if (/^\s*(?:INSERT|UPDATE|DELETE)/i.test(statement)) {
        const plan = db.prepare(`EXPLAIN QUERY PLAN ${statement}`).all() as Step[]
        t.deepEqual(repeatedScans(plan), [], `${name}: ${statement.trim().slice(0, 60)}`)
      }
      db.exec(statement)
    }
  }
})
