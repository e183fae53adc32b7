import type { Preferences, PreferenceStore } from '#shared/core/preferences.ts'
import type { Database } from '#shared/node/sqlite.ts'
import { toRecord, toRow, upsert } from '#shared/node/store/row.ts'

const CHOICES = ['language', 'unit_system'] as const satisfies (keyof Preferences)[]

export function preferenceStore(db: Database): PreferenceStore {
  const get = db.prepare(`SELECT ${CHOICES.join(', ')} FROM preferences WHERE subject = ?`)
  const put = db.prepare(upsert('preferences', ['subject'], ['subject', ...CHOICES]))
  const remove = db.prepare('DELETE FROM preferences WHERE subject = ?')
  return {
    get: subject => toRecord<Preferences>(get.get(subject) ?? {}),
    put: (subject, preferences) => void put.run({ subject, ...toRow(preferences, CHOICES) }),
    remove: subject => void remove.run(subject),
  }
}
