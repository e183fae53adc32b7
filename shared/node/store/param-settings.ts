import type { SettingKey, SettingStore, StoredSetting } from '#shared/core/tuning.ts'
import type { Database } from '../sqlite.ts'
import { toRecord, toRow, upsert } from './row.ts'

const KEY = ['rule_id', 'param', 'role', 'scope', 'scope_id', 'site_id', 'building_id'] as const
const COLUMNS = [...KEY, 'value', 'unit', 'note', 'changed_by', 'changed_at'] as const

export function paramSettingStore(db: Database): SettingStore {
  const order = `ORDER BY ${KEY.join(', ')}`
  const all = db.prepare(`SELECT * FROM param_settings ${order}`)
  const ofBuilding = db.prepare(`SELECT * FROM param_settings WHERE site_id = ? AND building_id IN ('', ?) ${order}`)
  const where = KEY.map(name => `${name} = @${name}`).join(' AND ')
  const get = db.prepare(`SELECT * FROM param_settings WHERE ${where}`)
  const put = db.prepare(upsert('param_settings', KEY, COLUMNS))
  const remove = db.prepare(`DELETE FROM param_settings WHERE ${where}`)
  return {
    list: of => (of ? ofBuilding.all(of.site_id, of.building_id) : all.all()).map(toSetting),
    get: key => {
      const row = get.get(keyOf(key))
      return row === undefined ? undefined : toSetting(row)
    },
    put: setting => void put.run({ ...toRow(setting, COLUMNS), ...keyOf(setting) }),
    remove: key => void remove.run(keyOf(key)),
  }
}

const keyOf = (key: SettingKey) =>
  toRow({ ...key, role: key.role ?? '', building_id: key.scope === 'equipment' ? (key.building_id ?? '') : '' }, KEY)

function toSetting(row: unknown): StoredSetting {
  const { role, building_id, ...setting } = toRecord<StoredSetting & { role: string; building_id: string }>(row)
  return { ...setting, ...(role !== '' && { role }), ...(building_id !== '' && { building_id }) }
}
