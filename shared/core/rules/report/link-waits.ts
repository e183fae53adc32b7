/** Rules that cannot run because the link to the equipment that serves another is missing. */
import { EQUIPMENT_TYPES, type EquipmentType } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { mayHave } from '#shared/core/suggest/places.ts'
import { MINUTE } from '#shared/core/time.ts'
import { outlineOf, createTopology } from '#shared/core/rules/compile/topology.ts'
import type { EquipmentData, RoleSeries } from '#shared/core/rules/compile/equipment-data.ts'

/** Types of equipment that serve a type, the usual one first. */
const SERVERS: Partial<Record<EquipmentType, readonly EquipmentType[]>> = {
  vav: ['ahu', 'rtu'],
  zone: ['vav', 'fcu', 'rtu', 'heat_pump', 'ahu'],
  ahu: ['chw_plant', 'hw_plant'],
  fcu: ['chw_plant', 'hw_plant'],
  fan: ['ahu', 'rtu'],
  chiller: ['chw_plant'],
  cooling_tower: ['chw_plant'],
  boiler: ['hw_plant'],
  pump: ['chw_plant', 'hw_plant'],
}
/** Types that are always served, also where a package does not contain the server. An air handler without a plant is normal. */
const ALWAYS_SERVED: ReadonlySet<EquipmentType> = new Set(['vav'])

type RuleLine = { equipment_id: string; rule_id: string; missing: string[] }

export type LinkWait = {
  equipment_type: EquipmentType
  served_by: EquipmentType
  equipment_ids: string[]
  /** Equipment of the building that may serve them. */
  server_ids: string[]
  /** Rules that a link would enable on at least one of them. */
  rule_ids: string[]
}

/** @returns the equipment that should be served by other equipment but has no link to it */
function withoutServer<T extends Pick<EquipmentData, 'equipment_id' | 'equipment_type' | 'feeds' | 'parent_id'>>(
  equipment: T[],
): T[] {
  const site = createTopology(equipment.map(one => outlineOf({ ...one, roles: {} })))
  const typeOf = new Map(equipment.map(one => [one.equipment_id, one.equipment_type]))
  return equipment.filter(({ equipment_id, equipment_type }) => {
    const servers = SERVERS[equipment_type]
    return servers !== undefined && !site.upstream(equipment_id).some(id => servers.includes(typeOf.get(id)!))
  })
}

/**
 * Evaluates the rules again with an assumed server above every equipment that lacks one. The server has the roles that
 * possible servers of the building have, or all roles that one may have where the building has none, so only rules that a
 * link would enable are counted.
 *
 * @param lines of the equipment as it is linked now
 * @param evaluate gives the lines of other equipment data, by the same rules
 */
export function linkWaitsOf(
  data: EquipmentData[],
  lines: RuleLine[],
  evaluate: (data: EquipmentData[]) => RuleLine[],
): LinkWait[] {
  const alone = withoutServer(data).filter(
    ({ equipment_type }) => ALWAYS_SERVED.has(equipment_type) || serversIn(data, equipment_type).length > 0,
  )
  if (alone.length === 0) return []
  const idOf = (type: EquipmentType) => `server of ${type}`
  const types = new Set(alone.map(({ equipment_type }) => equipment_type))
  const servers = [...types].map(type => ({ ...assumedServer(data, type), equipment_id: idOf(type) }))
  const ids = new Set(alone.map(({ equipment_id }) => equipment_id))
  const linked = data.map(one => (ids.has(one.equipment_id) ? { ...one, parent_id: idOf(one.equipment_type) } : one))
  const runs = new Set(
    evaluate([...servers, ...linked]).flatMap(line =>
      line.missing.length === 0 ? [`${line.equipment_id} ${line.rule_id}`] : [],
    ),
  )
  const waiting = lines.filter(
    ({ equipment_id, rule_id, missing }) => missing.length > 0 && ids.has(equipment_id) && runs.has(`${equipment_id} ${rule_id}`),
  )
  const rulesBy = Map.groupBy(waiting, ({ equipment_id }) => equipment_id)
  return EQUIPMENT_TYPES.filter(type => types.has(type)).flatMap((equipment_type): LinkWait[] => {
    const own = alone.filter(one => one.equipment_type === equipment_type && rulesBy.has(one.equipment_id))
    if (own.length === 0) return []
    const equipment_ids = own.map(({ equipment_id }) => equipment_id)
    const rule_ids = new Set(equipment_ids.flatMap(id => rulesBy.get(id)!.map(({ rule_id }) => rule_id)))
    const server_ids = serversIn(data, equipment_type).map(({ equipment_id }) => equipment_id)
    const served_by = SERVERS[equipment_type]![0]!
    return [{ equipment_type, served_by, equipment_ids, server_ids, rule_ids: [...rule_ids].toSorted() }]
  })
}

const serversIn = (data: EquipmentData[], type: EquipmentType) =>
  data.filter(({ equipment_type }) => SERVERS[type]!.includes(equipment_type))

function assumedServer(data: EquipmentData[], type: EquipmentType): Omit<EquipmentData, 'equipment_id'> {
  const there = serversIn(data, type)
  const [equipment_type] = SERVERS[type]!
  const possible = Object.keys(ROLES).filter(role => SERVERS[type]!.some(server => mayHave(server, role)))
  const roles = there.length > 0 ? there.flatMap(one => Object.keys(one.roles)) : possible
  return {
    equipment_type: there[0]?.equipment_type ?? equipment_type!,
    roles: Object.fromEntries(roles.map(role => [role, SAMPLE])),
    feeds: [],
  }
}

const SAMPLE: RoleSeries = { point_id: '', ts: Float64Array.of(0), values: Float64Array.of(0), nominalMs: MINUTE }

const NOUNS: Record<EquipmentType, [one: string, many: string]> = {
  ahu: ['air handler', 'air handlers'],
  vav: ['box', 'boxes'],
  zone: ['zone', 'zones'],
  fcu: ['fan coil unit', 'fan coil units'],
  rtu: ['rooftop unit', 'rooftop units'],
  heat_pump: ['heat pump', 'heat pumps'],
  chiller: ['chiller', 'chillers'],
  chw_plant: ['chilled-water plant', 'chilled-water plants'],
  cooling_tower: ['cooling tower', 'cooling towers'],
  boiler: ['boiler', 'boilers'],
  hw_plant: ['hot-water plant', 'hot-water plants'],
  pump: ['pump', 'pumps'],
  fan: ['fan', 'fans'],
  meter: ['meter', 'meters'],
  weather: ['weather station', 'weather stations'],
}

/** @returns for example `12 rules for 5 boxes wait for the air handler that serves them` */
export function describeWait({ equipment_type, served_by, equipment_ids, rule_ids }: LinkWait): string {
  const [one, many] = NOUNS[equipment_type]
  const isOne = equipment_ids.length === 1
  const rules = rule_ids.length === 1 ? '1 rule' : `${rule_ids.length} rules`
  const wait = rule_ids.length === 1 ? 'waits' : 'wait'
  const server = served_by === 'vav' ? 'unit' : NOUNS[served_by][0]
  return `${rules} for ${equipment_ids.length} ${isOne ? one : many} ${wait} for the ${server} that serves ${isOne ? 'it' : 'them'}`
}
