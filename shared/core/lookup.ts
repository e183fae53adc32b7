/** Finds a record by its id, or throws the one problem that says that there is none. */
import type { Finding } from './findings/finding.ts'
import type { Building, Equipment } from './model/model.ts'
import { Problem } from './problem.ts'

type Buildings = { building(building_id: string): Building | undefined }

/** @throws Problem unknown_building */
export function needBuilding(model: Buildings, building_id: string): Building {
  const building = model.building(building_id)
  if (!building) throw new Problem('unknown_building', `There is no building ${building_id}`)
  return building
}

/**
 * An empty list of a building that is not here would read as one of a building in which nothing is wrong.
 *
 * @param building_id to which the list is narrowed, if it is
 * @throws Problem unknown_building where nothing was found and there is no such building
 */
export function refuseUnknownBuilding(model: Buildings, building_id: string | undefined, found: readonly unknown[]): void {
  if (building_id !== undefined && found.length === 0) needBuilding(model, building_id)
}

/** @returns the first building where a page names none. @throws Problem unknown_building, also where no building exists yet */
export function chooseBuilding(model: Buildings & { buildings(): Building[] }, building_id: string | undefined): Building {
  if (building_id !== undefined) return needBuilding(model, building_id)
  const [first] = model.buildings()
  if (!first) throw new Problem('unknown_building', 'There is no building yet')
  return first
}

/** @throws Problem unknown_building or unknown_equipment */
export function needEquipment(
  model: Buildings & { equipment(building_id: string): Equipment[] },
  building_id: string,
  equipment_id: string,
): Equipment {
  needBuilding(model, building_id)
  const equipment = model.equipment(building_id)
  refuseUnknownEquipment(building_id, equipment, [equipment_id])
  return equipment.find(one => one.equipment_id === equipment_id)!
}

/** @throws Problem unknown_equipment that names every id which the building does not have */
export function refuseUnknownEquipment(building_id: string, equipment: readonly Equipment[], ids: readonly string[]): void {
  const known = new Set(equipment.map(({ equipment_id }) => equipment_id))
  const unknown = ids.filter(id => !known.has(id))
  if (unknown.length === 0) return
  throw new Problem('unknown_equipment', `Building ${building_id} has no equipment ${unknown.join(', ')}`)
}

/** @throws Problem unknown_rule */
export function needRule<R>(rules: { get(rule_id: string): R | undefined }, rule_id: string): R {
  const rule = rules.get(rule_id)
  if (rule === undefined) throw new Problem('unknown_rule', `There is no rule ${rule_id}`)
  return rule
}

/** @throws Problem unknown_finding */
export function needFinding(stored: { get(finding_id: string): Finding | undefined }, finding_id: string): Finding {
  const finding = stored.get(finding_id)
  if (!finding) throw new Problem('unknown_finding', `There is no finding ${finding_id}`)
  return finding
}

/** @throws Problem unknown_run */
export function needRun<R>(runs: { get(run_id: string): R | undefined }, run_id: string): R {
  const run = runs.get(run_id)
  if (run === undefined) throw new Problem('unknown_run', `There is no run ${run_id}`)
  return run
}
