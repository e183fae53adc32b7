/** Addresses of the pages of buildings, equipment, points, edges, rules and faults, and the breadcrumbs over them. */
import type { Building, EdgeKey, Equipment, Point, Protocol } from '#shared/core/model/model.ts'
import { type Html, html } from '#shared/node/http/html.ts'

export const BUILDINGS_PATH = '/buildings'
const part = encodeURIComponent

export const buildingHref = (building_id: string): string => `${BUILDINGS_PATH}/${part(building_id)}`
export const equipmentHref = ({ building_id, equipment_id }: Pick<Equipment, 'building_id' | 'equipment_id'>): string =>
  `${buildingHref(building_id)}/equipment/${part(equipment_id)}`
export const pointHref = ({ building_id, point_id }: Pick<Point, 'building_id' | 'point_id'>): string =>
  `${buildingHref(building_id)}/points/${part(point_id)}`
/** On a hub. */
export const edgePath = ({ edge_id }: EdgeKey): string => `/edges/${part(edge_id)}`
export const edgeHref = (edge: EdgeKey): string => `${edgePath(edge)}?${querySite(edge)}`
export const querySite = ({ site_id }: EdgeKey): string => new URLSearchParams({ site_id }).toString()
export const findingHref = (finding_id: string): string => `/faults/${part(finding_id)}`

export const RULES_PATH = '/fault-rules'
export const rulePath = (rule_id: string): string => `${RULES_PATH}/${part(rule_id)}`
/** The parameters of a rule. */
export const paramsPath = (rule_id: string): string => `/params/${part(rule_id)}`
/** The same in a building. */
export const ruleHref = (rule_id: string, building_id: string): string =>
  `${paramsPath(rule_id)}?${new URLSearchParams({ building: building_id })}`

/** The way from all buildings down to the page itself, which is the last and no link. */
export function breadcrumbs(building: Building, equipment: Equipment | undefined, here?: string): Html {
  const steps: (readonly [string, string])[] = [
    [BUILDINGS_PATH, building.site_id],
    [buildingHref(building.building_id), building.name],
    ...(equipment ? [[equipmentHref(equipment), equipment.name] as const] : []),
  ]
  const links = here === undefined ? steps.slice(0, -1) : steps
  const last = here ?? steps.at(-1)![1]
  return html`<p class="crumbs">${links.map(([href, text]) => html`<a href="${href}">${text}</a> <span aria-hidden="true">›</span> `)}<span aria-current="page">${last}</span></p>`
}

/** Names of an equipment as a link to its page. */
export const equipmentLink = (at: Pick<Equipment, 'building_id' | 'equipment_id'>, text: string): Html =>
  html`<a href="${equipmentHref(at)}">${text}</a>`

/** The page of a box that reads BACnet objects. */
export const BACNET_PATH = '/bacnet'
/**
 * The page of a box that reads a point from its device now; only BACnet objects have one that needs no further choice.
 *
 * @param address device and object, as the model has it: `ahu-1/analog-input,3`
 */
export function readHref(protocol: Protocol, address: string): string | undefined {
  const [device_id, object] = address.split('/', 2)
  if (protocol !== 'bacnet' || device_id === undefined || object === undefined) return undefined
  return `${BACNET_PATH}?${new URLSearchParams({ device_id, object })}`
}
