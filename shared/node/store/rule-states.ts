import type { RuleState, RuleStates } from '#shared/core/stores.ts'
import type { Database } from '../sqlite.ts'
import { toRow, upsert } from './row.ts'

const COLUMNS = ['rule_id', 'active', 'changed_by', 'changed_at'] as const

export function ruleStateStore(db: Database): RuleStates {
  const list = db.prepare('SELECT * FROM rule_states ORDER BY rule_id')
  const set = db.prepare(upsert('rule_states', ['rule_id'], COLUMNS))
  return {
    list: () => list.all().map(row => ({ ...(row as RuleState), active: Boolean((row as RuleState).active) })),
    set: state => void set.run(toRow(state, COLUMNS)),
  }
}
