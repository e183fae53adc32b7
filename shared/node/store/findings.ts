import type { Finding } from '#shared/core/findings/finding.ts'
import type { Database } from '../sqlite.ts'

/**
 * Inserts or updates one finding by its id, inside the transaction of the caller.
 *
 * @returns whether it was written: a finding of another building with the same id is not changed
 */
export function findingWriter(db: Database): (finding: Finding) => boolean {
  const upsert = db.prepare(
    `INSERT INTO findings VALUES (@finding_id, @building_id, @equipment_id, @rule_id, @state, @from, @to, @body)
     ON CONFLICT (finding_id) DO UPDATE SET state = excluded.state, "to" = excluded."to", body = excluded.body
     WHERE findings.building_id = excluded.building_id`,
  )
  return finding => {
    const { finding_id, building_id, equipment_id, rule_id, state, from, to } = finding
    const row = { finding_id, building_id, equipment_id, rule_id, state, from, to, body: JSON.stringify(finding) }
    return upsert.run(row).changes > 0
  }
}

export const toFinding = (body: unknown): Finding => JSON.parse(String(body))
