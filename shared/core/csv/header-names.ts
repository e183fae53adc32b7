/** Names of roles and equipment types in packages. */
import { nameTable } from '#shared/core/name-table.ts'
import { EQUIPMENT_TYPES, type EquipmentType } from '#shared/core/model/model.ts'
import { roleOf, ROLES } from '#shared/core/model/role.ts'
import { plainGerman } from '#shared/core/suggest/german.ts'
import { mayHave } from '#shared/core/suggest/places.ts'
import { roleOfReference } from '#shared/core/suggest/reference-names.ts'

/** Prefix of a namespace: `brick:`, `ph:`, `https://brickschema.org/schema/Brick#`. */
const NAMESPACE = /^\s*(?:<?https?:\S*[#/]|(?:brick|ph|phIoT|phScience):)([^>\s]*)>?\s*$/i
/** Markers that every point has, or that describe its storage and not its meaning. */
const MARKERS: ReadonlySet<string> = new Set(['', 'point', 'cur', 'his', 'collect', 'writable', 'hvac', 'effective'])
/** Synonyms in Haystack 3 and 4 and in Brick. */
const SAME = nameTable<string>({
  ...{ supply: 'discharge', outdoor: 'outside', cooling: 'cool', heating: 'heat', temperature: 'temp', setpoint: 'sp' },
  ...{ command: 'cmd', enable: 'run', dewpoint: 'dew point', differential: 'delta', electric: 'elec' },
})

/**
 * The words of a name in alphabetical order, so that `discharge-air-temp-sensor`, `Air Temp discharge sensor` and
 * `brick:Supply_Air_Temperature_Sensor` are equal.
 */
const words = (name: string) =>
  (NAMESPACE.exec(name)?.[1] ?? name)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(word => !MARKERS.has(word))
    .map(word => (Object.hasOwn(SAME, word) ? SAME[word] : word))
    .toSorted()
    .join(' ')

/** Labels that are Brick classes of any component: they are written for roles, but no role is read from them. */
const GENERAL_CLASSES: ReadonlySet<string> = new Set(['Status', 'On_Off_Status', 'Enable_Command', 'Current_Sensor'])

const BY_WORDS = new Map(
  [
    ...Map.groupBy(
      Object.entries(ROLES).flatMap(([name, { haystack, label }]) =>
        [haystack, label].filter(text => !GENERAL_CLASSES.has(text)).map(text => ({ name, key: words(text) })),
      ),
      ({ key }) => key,
    ),
  ].map(([key, all]) => [key, [...new Set(all.map(({ name }) => name))]]),
)

/**
 * The role for a name in a column map: a name of the reference platform, the name or an alias of a role, its Haystack tags
 * or its Brick class. Where several roles share these (supply air of an air handler, discharge air of a box), the first one
 * of the equipment type is returned.
 */
export function roleOfName(name: string, equipmentType: EquipmentType): string | undefined {
  const reference = roleOfReference(name, equipmentType)
  if (reference) return reference
  const known = roleOf(name)
  if (known) return name.trim().toLowerCase() === known ? known : roleHere(known, equipmentType)
  const candidates = BY_WORDS.get(words(name)) ?? []
  return candidates.find(role => mayHave(equipmentType, role)) ?? candidates[0]
}

/** An alias such as `da-t` has several meanings: on an air handler supply air, on a box its discharge air. */
function roleHere(role: string, equipmentType: EquipmentType): string {
  if (mayHave(equipmentType, role)) return role
  const { haystack } = ROLES[role]!
  const same = Object.keys(ROLES).find(other => ROLES[other]!.haystack === haystack && mayHave(equipmentType, other))
  return same ?? role
}

/** The role whose name, alias, tags or class equals a column header, with or without a prefix such as `AHU: `. */
export function roleOfHeader(header: string, equipmentType: EquipmentType): string | undefined {
  const bare = withoutUnit(header).name
  return roleOfName(bare, equipmentType) ?? roleOfName(bare.slice(bare.lastIndexOf(':') + 1), equipmentType)
}

/** Splits `Value (°F)` or `SAT [degF]` into name and unit. */
export function withoutUnit(header: string): { name: string; unit?: string } {
  const name = header.trim()
  const bare = name.slice(0, -1)
  const opens = Math.max(bare.lastIndexOf('('), bare.lastIndexOf('['))
  const closes = Math.max(bare.lastIndexOf(')'), bare.lastIndexOf(']'))
  if (!/[)\]]$/.test(name) || opens <= closes || opens === bare.length - 1) return { name }
  return { name: bare.slice(0, opens).trim(), unit: bare.slice(opens + 1).trim() }
}

const TYPE_NAMES = nameTable<EquipmentType>({
  airhandlingunit: 'ahu',
  airhandler: 'ahu',
  rooftopunit: 'rtu',
  rooftop: 'rtu',
  vavbox: 'vav',
  variableairvolumebox: 'vav',
  terminalunit: 'vav',
  room: 'zone',
  space: 'zone',
  hvaczone: 'zone',
  fancoilunit: 'fcu',
  fancoil: 'fcu',
  heatpump: 'heat_pump',
  chillerplant: 'chw_plant',
  chilledwaterplant: 'chw_plant',
  coolingtower: 'cooling_tower',
  boilerplant: 'hw_plant',
  hotwaterplant: 'hw_plant',
  elecmeter: 'meter',
  weatherstation: 'weather',
  lueftungsanlage: 'ahu',
  rltanlage: 'ahu',
  klimaanlage: 'ahu',
  dachgeraet: 'rtu',
  volumenstromregler: 'vav',
  raum: 'zone',
  geblaesekonvektor: 'fcu',
  waermepumpe: 'heat_pump',
  kaelteanlage: 'chw_plant',
  kaeltezentrale: 'chw_plant',
  kaeltemaschine: 'chiller',
  kuehlturm: 'cooling_tower',
  heizungsanlage: 'hw_plant',
  heizzentrale: 'hw_plant',
  heizkreis: 'hw_plant',
  kessel: 'boiler',
  heizkessel: 'boiler',
  pumpe: 'pump',
  ventilator: 'fan',
  zaehler: 'meter',
  stromzaehler: 'meter',
  wetterstation: 'weather',
})

/** @returns the type for an `equipType` (`AHU`, `air-handling-unit`, `Lüftungsanlage`), or undefined */
export function equipmentTypeOf(text: string): EquipmentType | undefined {
  const plain = plainGerman(text)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
  return EQUIPMENT_TYPES.find(type => type.replace('_', '') === plain) ?? TYPE_NAMES[plain]
}
