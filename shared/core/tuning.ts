/** Settings of people for the rules of their buildings: parameter values and resets of baselines. */
import type { ParamSetting } from '#shared/core/rules/check/param-settings.ts'
import type { RuleBaseline, BaselineReset } from '#shared/core/rules/evaluate/run-types.ts'

/** A stored setting. It belongs to a site; one for an equipment also to a building, because equipment ids are unique per building. */
export type StoredSetting = ParamSetting & {
  site_id: string
  /** Only for the scope `equipment`. */
  building_id?: string
  note?: string
  changed_by: string
  /** ms since 1970 UTC */
  changed_at: number
}
/** The fields that identify a setting. */
export type SettingKey = Pick<StoredSetting, 'rule_id' | 'param' | 'role' | 'scope' | 'scope_id' | 'site_id' | 'building_id'>

/** Settings of parameters, durable. */
export interface SettingStore {
  /** Those that count for a building of a site: the site's own and those of the building's equipment; without a building all. */
  list(building?: { site_id: string; building_id: string }): StoredSetting[]
  get(key: SettingKey): StoredSetting | undefined
  /** Inserts or replaces by its key. */
  put(setting: StoredSetting): void
  remove(key: SettingKey): void
}

export type StoredReset = BaselineReset & { building_id: string; note: string; changed_by: string; changed_at: number }
/** A baseline as the newest run that evaluated it left it. */
export type StoredBaseline = RuleBaseline & {
  building_id: string
  /** The building date for which it stood. */
  date: string
}
export type BaselineKey = Pick<StoredBaseline, 'building_id' | 'equipment_id' | 'rule_id' | 'role' | 'name'>
/** The baselines that a run evaluated. */
export type BaselineReport = {
  building_id: string
  /** The building date of the run's last day. */
  date: string
  /** The building date on which the run ended: a stored baseline of a later date was computed with a wrong clock. */
  today: string
  /** Pairs that the run evaluated; other results of them are removed. */
  looked: { equipment_id: string; rule_id: string }[]
  baselines: RuleBaseline[]
}

/** Baselines and their resets, durable. */
export interface BaselineStore {
  /** Ordered by equipment, rule, role and name. */
  list(query: { building_id: string; equipment_id?: string; rule_id?: string }): StoredBaseline[]
  get(key: BaselineKey): StoredBaseline | undefined
  /** Stores the baselines of a run in one transaction. */
  keep(report: BaselineReport): void
  resets(building_id: string): StoredReset[]
  reset(reset: StoredReset): void
  /** Takes a reset back. */
  restore(key: BaselineKey): void
}
