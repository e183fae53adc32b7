/** `config/site.json`: which building this appliance serves, and the equipment in it. */
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { type Building, type Equipment, EQUIPMENT_TYPES, ID } from '#shared/core/model/model.ts'
import { PriorityLevels } from '#shared/core/priority/level-settings.ts'
import { isZone } from '#shared/core/time-zone.ts'
import { newSite } from '../core/system/first-site.ts'
import type { Complaint } from './json-file.ts'
import { openSettingsFile, type SettingsFile } from './settings-file.ts'

const strict = { additionalProperties: false }
const id = (description: string) => Type.String({ ...ID, description })
const name = Type.String({ minLength: 1, maxLength: 200 })
const choice = <const T extends readonly string[]>(choices: T) =>
  Type.Unsafe<T[number]>(Type.String({ enum: [...choices], pattern: `^(${choices.join('|')})$` }))

/** Published beside this file as site.schema.json. */
export const SiteFile = Type.Object(
  {
    site_id: id('First part of every topic'),
    edge_id: id('This appliance within the site'),
    building: Type.Object(
      {
        building_id: id('As on the hub'),
        name,
        timezone: Type.String({ description: 'IANA zone, for example America/Chicago' }),
        unit_system: choice(['us', 'si']),
        lat: Type.Optional(Type.Number({ minimum: -90, maximum: 90 })),
        lon: Type.Optional(Type.Number({ minimum: -180, maximum: 180 })),
      },
      strict,
    ),
    equipment: Type.Array(
      Type.Object(
        {
          equipment_id: id('Unique in the building'),
          name,
          equipment_type: choice(EQUIPMENT_TYPES),
          parent_id: Type.Optional(id('Equipment that this one is part of')),
          feeds: Type.Optional(Type.Array(id('Equipment that receives what this one delivers'), { maxItems: 2000 })),
        },
        strict,
      ),
      { maxItems: 5000 },
    ),
    priority_levels: Type.Optional(PriorityLevels),
  },
  { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'The building an appliance serves', ...strict },
)
export type SiteSettings = Static<typeof SiteFile>

/**
 * Opens `site.json` in the folder `dir`.
 *
 * @throws ConfigError when it is missing, unreadable or wrong
 */
export const openSiteSettings = (dir: string): Promise<SettingsFile<SiteSettings>> =>
  openSettingsFile(join(dir, 'site.json'), SiteFile, checkSite, { example: newSite('edge-1') })

/** @returns the records that the model store takes */
export function siteModel({ site_id, building, equipment }: SiteSettings): { building: Building; equipment: Equipment[] } {
  const { building_id } = building
  return { building: { ...building, site_id }, equipment: equipment.map(one => ({ ...one, building_id })) }
}

function checkSite({ building, equipment, priority_levels = [] }: SiteSettings): Complaint[] {
  const complaints: Complaint[] = []
  for (const [i, { level }] of priority_levels.entries()) {
    if (priority_levels.findIndex(other => other.level === level) !== i)
      complaints.push({ pointer: `/priority_levels/${i}/level`, message: `level ${level} occurs twice` })
  }
  if (!isZone(building.timezone)) {
    complaints.push({ pointer: '/building/timezone', message: `"${building.timezone}" is no IANA zone` })
  }
  const known = new Set<string>()
  for (const [i, { equipment_id }] of equipment.entries()) {
    if (known.has(equipment_id))
      complaints.push({ pointer: `/equipment/${i}/equipment_id`, message: `"${equipment_id}" occurs twice` })
    known.add(equipment_id)
  }
  for (const [i, { parent_id, feeds = [] }] of equipment.entries()) {
    const at = `/equipment/${i}`
    const named = [
      ...(parent_id === undefined ? [] : [{ pointer: `${at}/parent_id`, other: parent_id }]),
      ...feeds.map((other, k) => ({ pointer: `${at}/feeds/${k}`, other })),
    ]
    for (const { pointer, other } of named) {
      if (!known.has(other)) complaints.push({ pointer, message: `"${other}" is no equipment of this file` })
    }
  }
  return complaints
}
