import type { RuleVersion, RuleVersionStore } from '#shared/core/stores.ts'
import type { Database } from '#shared/node/sqlite.ts'
import { toRow } from '#shared/node/store/row.ts'

/** A person goes back to one of the last few; more are in backups. */
const OF_RULE_MAX = 20
/** 2,000 texts of a few kB take some MB; only a catalogue that is deployed again and again has as many. */
const ALL_MAX = 2000
const COLUMNS = ['rule_id', 'sha256', 'yaml', 'deployed_by', 'deployed_at'] as const satisfies (keyof RuleVersion)[]

export function ruleVersionStore(db: Database): RuleVersionStore {
  const names = COLUMNS.join(', ')
  const list = db.prepare<[string], RuleVersion>(`SELECT ${names} FROM rule_versions WHERE rule_id = ? ORDER BY entry DESC`)
  const newest = db.prepare<[], RuleVersion>(
    `SELECT ${names} FROM rule_versions WHERE entry IN (SELECT max(entry) FROM rule_versions GROUP BY rule_id) ORDER BY rule_id`,
  )
  const get = db.prepare<[string, string], RuleVersion>(`SELECT ${names} FROM rule_versions WHERE rule_id = ? AND sha256 = ?`)
  // The row is replaced, so that it gets a number above all others.
  const put = db.prepare(`INSERT OR REPLACE INTO rule_versions (${names}) VALUES (${COLUMNS.map(name => `@${name}`).join(', ')})`)
  const trimRule = db.prepare(
    `DELETE FROM rule_versions WHERE rule_id = @rule_id AND entry NOT IN
       (SELECT entry FROM rule_versions WHERE rule_id = @rule_id ORDER BY entry DESC LIMIT ${OF_RULE_MAX})`,
  )
  const trimAll = db.prepare(
    `DELETE FROM rule_versions WHERE entry NOT IN (SELECT entry FROM rule_versions ORDER BY entry DESC LIMIT ${ALL_MAX})`,
  )
  const add = (version: RuleVersion) => {
    put.run(toRow(version, COLUMNS))
    trimRule.run({ rule_id: version.rule_id })
    trimAll.run()
  }
  return {
    list: rule_id => list.all(rule_id),
    newest: () => newest.all(),
    get: (rule_id, sha256) => get.get(rule_id, sha256),
    add: db.transaction(add),
  }
}
