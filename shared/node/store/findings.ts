import type { Finding } from '#shared/core/finding.ts'
import type { Database } from '../sqlite.ts'

/** Inserts or updates one finding by its id; for use inside the caller's transaction. */
export function findingWriter(db: Database): (finding: Finding) => void {
  const upsert = db.prepare(
    `INSERT INTO findings VALUES (@finding_id, @building_id, @equipment_id, @rule_id, @state, @from, @to, @body)
     ON CONFLICT (finding_id) DO UPDATE SET state = excluded.state, "to" = excluded."to", body = excluded.body`,
  )
  return finding => {
    const { finding_id, building_id, equipment_id, rule_id, state, from, to } = finding
    upsert.run({ finding_id, building_id, equipment_id, rule_id, state, from, to, body: JSON.stringify(finding) })
  }
}

export const toFinding = (body: unknown): Finding => JSON.parse(String(body))
