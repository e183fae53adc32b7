import type { FaultDefinition, StoredDefinition } from '#shared/core/findings/fault-definition.ts'
import type { DefinitionStore } from '#shared/core/stores.ts'
import type { Database } from '../sqlite.ts'
import { toRecord, toRow, upsert } from './row.ts'

const WORDS = ['fault_id', 'title', 'category', 'severity', 'equipment_types', 'description', 'source'] as const
const COLUMNS = [...WORDS, 'updated_at', 'retired_at'] as const

export function definitionStore(db: Database): DefinitionStore {
  const all = db.prepare('SELECT * FROM fault_definitions ORDER BY fault_id')
  const get = db.prepare('SELECT * FROM fault_definitions WHERE fault_id = ?')
  const put = db.prepare(upsert('fault_definitions', ['fault_id'], COLUMNS))

  const sync = (definitions: FaultDefinition[], now: number) => {
    const before = new Map(all.all().map(row => [toDefinition(row).fault_id, toDefinition(row)]))
    const counts = { added: 0, changed: 0, unchanged: 0, retired: 0 }
    for (const definition of definitions) {
      const known = before.get(definition.fault_id)
      const isSame = known !== undefined && known.retired_at === undefined && wordsOf(known) === wordsOf(definition)
      counts[isSame ? 'unchanged' : known ? 'changed' : 'added']++
      if (!isSame) put.run(toRow({ ...definition, updated_at: now } as StoredDefinition, COLUMNS))
    }
    const present = new Set(definitions.map(({ fault_id }) => fault_id))
    for (const known of before.values()) {
      if (present.has(known.fault_id) || known.retired_at !== undefined) continue
      put.run(toRow({ ...known, retired_at: now }, COLUMNS))
      counts.retired++
    }
    return counts
  }

  return {
    list: () => all.all().map(toDefinition),
    get: fault_id => {
      const row = get.get(fault_id)
      return row === undefined ? undefined : toDefinition(row)
    },
    sync: db.transaction(sync),
  }
}

const toDefinition = (row: unknown): StoredDefinition => toRecord<StoredDefinition>(row, ['equipment_types'])
const wordsOf = (definition: FaultDefinition): string => JSON.stringify(WORDS.map(name => definition[name]))
