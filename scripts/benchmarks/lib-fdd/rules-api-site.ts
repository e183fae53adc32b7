/** A building of 5,200 points: 100 air handlers of 20 and four boxes of 8 to each. */
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import type { StoredSetting } from '#shared/core/tuning.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { AIR_HANDLER_ROLES } from './air-handler.ts'

const [AIR_HANDLERS, BOXES_EACH] = [100, 4]
const BOX_ROLES = ['zone_t', 'discharge_t', 'zone_flow', 'zone_flow_sp', 'damper', 'reheat_valve', 'zone_t_sp_cool', 'occ']
const building_id = 'campus'

export const BUILDING: Building = { building_id, name: 'Campus', site_id: 'bench', timezone: 'UTC', unit_system: 'si' }

const handlers = Array.from({ length: AIR_HANDLERS }, (_, i) => unit(`AHU-${i}`, 'ahu'))
const boxes = handlers.flatMap(({ equipment_id: parent_id }, i) =>
  Array.from({ length: BOXES_EACH }, (_, j) => unit(`VAV-${i}-${j}`, 'vav', parent_id)),
)
export const EQUIPMENT: Equipment[] = [...handlers, ...boxes]
export const POINTS: Point[] = EQUIPMENT.flatMap(({ equipment_id, equipment_type }) =>
  (equipment_type === 'ahu' ? AIR_HANDLER_ROLES : BOX_ROLES).map(role => pointOf(equipment_id, role)),
)

/** Parameters that somebody has set, so that a list of settings has to know a rule. */
export const SETTING: StoredSetting = {
  rule_id: 'AHU-ALWAYS-ON',
  param: 'most',
  scope: 'site',
  scope_id: 'bench',
  site_id: 'bench',
  value: 0.9,
  unit: 'fraction',
  changed_by: 'admin',
  changed_at: 0,
}

function unit(equipment_id: string, equipment_type: 'ahu' | 'vav', parent_id?: string): Equipment {
  return { building_id, equipment_id, name: equipment_id, equipment_type, ...(parent_id !== undefined && { parent_id }) }
}

function pointOf(equipment_id: string, role: string): Point {
  const { unit: code, kind } = ROLES[role]!
  const source = { protocol: 'bacnet', address: `${equipment_id} ${role}` } as Point['source']
  return {
    building_id,
    equipment_id,
    point_id: `${equipment_id}.${role}`,
    name: role,
    role,
    unit: code,
    kind,
    source,
    poll_secs: 60,
  }
}
