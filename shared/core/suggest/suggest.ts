/** Roles that a point may have, with how sure that is and why. Only ever a suggestion: nothing is assigned by it. */
import { parseTarget } from '../bacnet/object.ts'
import { suggestRole } from '../csv/names.ts'
import type { EquipmentType, Point } from '../model.ts'
import { isMeasured, ROLES } from '../role.ts'
import { conversion } from '../unit.ts'
import { mayHave } from './places.ts'
import { SPEED_OF } from './reference-names.ts'
import { readName } from './words.ts'

export type Suggestion = {
  role: string
  /** 0..1: of those with 0.9 nine in ten should be right. */
  confidence: number
  /** In words, for people who decide. */
  why: string[]
}
export type Asked = Pick<Point, 'point_id' | 'name' | 'unit' | 'kind' | 'source'> & {
  equipment_type?: EquipmentType
}

/** Fewer say less than the name by itself. */
const CONFIDENCE_MIN = 0.4
/** The role's own name, an alias of it, its Haystack tags or its Brick class. */
const EXACT = 0.98
const SUGGESTIONS_MAX = 3
/** What two points of one equipment that look alike keep of their confidence each: at most one of them is it. */
const RIVAL = 0.5
/** What a role keeps when the name fits another role to a hair: at most one of them is meant. */
const TIE = 0.5
/** What is left when a role is on or off and the point has numbered states, or the other way round. */
const STATES = 0.6
/** What a point is about: a name that says one of them means no role without it. */
const DECIDING = ['temp', 'humidity', 'pressure', 'flow', 'power', 'energy', 'co2', 'speed', 'sp']
/** Tags that say nothing of which part is meant. */
const VAGUE = new Set([...DECIDING, 'cmd', 'sensor', 'run', 'position', 'min', 'max', 'air', 'water', 'delta'])
/** What the name lacks or has too much weighs so much; the rest weighs 1. */
const WEIGHTS: Record<string, number> = {
  other: 3,
  air: 0.15,
  sensor: 0.3,
  position: 0.2,
  water: 0.3,
  run: 0.4,
  duct: 0.1,
  coil: 0.2,
  entering: 0.5,
  leaving: 0.5,
}
const weigh = (tag: string): number => WEIGHTS[tag] ?? 1
const total = (tags: Iterable<string>): number => [...tags].reduce((sum, tag) => sum + weigh(tag), 0)

const SAME: Record<string, string> = { heating: 'heat', cooling: 'cool', active: '' }
const canonical = (tag: string): string => SAME[tag] ?? tag

const VOCABULARY = Object.entries(ROLES).map(([role, { haystack, unit, kind }]) => {
  return { role, unit, kind, tags: new Set(haystack.split(' ').map(canonical).filter(Boolean)) }
})

/** What the unit says of a point whose name does not. */
const QUANTITIES: [unit: string, tag: string][] = [
  ['degC', 'temp'],
  ['Pa', 'pressure'],
  ['m3/s', 'flow'],
  ['kW', 'power'],
  ['kWh', 'energy'],
  ['ppm', 'co2'],
]

/**
 * @param points of one equipment, those that have a role already among them: two that look alike make each other doubtful
 * @returns by point, the likeliest first; none where nothing is likely
 */
export function suggestRoles(points: readonly Asked[]): Map<string, Suggestion[]> {
  const found = new Map(points.map(point => [point.point_id, candidatesOf(point)]))
  const claims = Map.groupBy(
    [...found].flatMap(([point_id, [first]]) => (first ? [{ point_id, role: first.role }] : [])),
    ({ role }) => role,
  )
  for (const [role, rivals] of claims) {
    if (rivals.length < 2) continue
    for (const { point_id } of rivals) {
      const [first] = found.get(point_id)!
      first!.confidence = round(first!.confidence * RIVAL)
      first!.why.push(`${rivals.length} points of this equipment look like ${role}`)
    }
  }
  return new Map(
    [...found].map(([point_id, all]) => [
      point_id,
      all.filter(({ confidence }) => confidence >= CONFIDENCE_MIN).toSorted((a, b) => b.confidence - a.confidence),
    ]),
  )
}

function candidatesOf(point: Asked): Suggestion[] {
  const { unit, kind, equipment_type } = point
  const named = suggestRole(point.name, equipment_type ?? 'ahu')
  const exact = named !== undefined && kind === 'number' ? (SPEED_OF[named] ?? named) : named
  const known = VOCABULARY.find(({ role }) => role === exact)
  const isFedBack = known !== undefined && objectOf(point.source) === 'input' && !isMeasured(known.role)
  if (known && !isFedBack && fits(known, unit, kind) && mayHave(equipment_type, known.role))
    return [judged({ role: known.role, confidence: EXACT, why: ['the name is one that the role has'] }, kind)]
  const { tags, unread, said } = tagsOf(point)
  if (said.length === 0) return []
  const words = new Set(tags)
  const scored = VOCABULARY.filter(one => fits(one, unit, kind) && mayHave(equipment_type, one.role))
    .map(one => ({ role: one.role, score: likeness(one.tags, words, unread.length) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || (a.role < b.role ? -1 : 1))
    .slice(0, SUGGESTIONS_MAX)
  return scored.map(({ role, score }, i) => {
    const rival = scored[i === 0 ? 1 : 0]?.score ?? 0
    const leading = rival === score ? TIE : 1 - 0.6 * Math.max(0, rival / score - 0.7)
    const sure = i === 0 ? score * leading : score * (score / rival) * 0.5
    return judged({ role, confidence: round(Math.min(EXACT, sure)), why: [`the name says ${said.join(', ')}`] }, kind)
  })
}

/** States are numbered from 1 in BACnet: one that is on or off by its role would then never be off. */
function judged(suggestion: Suggestion, kind: string): Suggestion {
  const asked = ROLES[suggestion.role]!.kind
  if (asked === kind) return suggestion
  const doubt = kind === 'enum' ? 'it has numbered states, and only 0 is off' : 'it is only on or off'
  return { ...suggestion, confidence: round(suggestion.confidence * STATES), why: [...suggestion.why, doubt] }
}

const round = (value: number): number => Math.round(value * 100) / 100

/** A number is no switch, and a temperature no pressure. */
const fits = (role: { unit: string; kind: string }, unit: string, kind: string): boolean =>
  (role.kind === kind || (role.kind === 'enum' && kind === 'bool') || (role.kind === 'bool' && kind === 'enum')) &&
  (role.kind !== 'number' || conversion(unit, role.unit) !== undefined)

/** What both say over all that either says; what is no word at all counts a little against it. */
function likeness(role: ReadonlySet<string>, named: ReadonlySet<string>, unread: number): number {
  if (DECIDING.some(tag => named.has(tag) && !role.has(tag))) return 0
  const shared = [...role].filter(tag => named.has(tag))
  if (shared.every(tag => VAGUE.has(tag))) return 0
  const both = total(shared)
  const missing = total([...role].filter(tag => !named.has(tag)))
  const extra = total([...named].filter(tag => !role.has(tag)))
  return both < 1 ? 0 : both / (both + missing + extra + 0.15 * unread)
}

/** @returns also which of its words the name itself has said */
function tagsOf(point: Asked): { tags: string[]; unread: string[]; said: string[] } {
  const { name, unit, kind, equipment_type, source } = point
  const read = readName(name)
  const said = read.tags.filter(tag => tag !== 'airHandler' && tag !== 'box').map(tag => tag.replaceAll('|', ' or '))
  const quantity = QUANTITIES.find(([code]) => kind === 'number' && conversion(unit, code))?.[1]
  const tags = new Set(read.tags.flatMap(tag => chosen(tag, kind)))
  if (quantity) tags.add(quantity)
  implied(tags, kind, quantity, objectOf(source))
  local(tags, equipment_type)
  return { tags: [...tags], unread: read.unread, said }
}

const chosen = (tag: string, kind: string): string[] => {
  const [first = '', second] = tag.split('|')
  return second === undefined ? [first] : kind === 'number' ? [first] : [second, 'sensor']
}

function objectOf({ protocol, address }: Asked['source']): 'input' | 'output' | undefined {
  const target = protocol === 'bacnet' ? parseTarget(address) : undefined
  if (typeof target !== 'object') return undefined
  return [0, 3, 13].includes(target.type) ? 'input' : [1, 4, 14].includes(target.type) ? 'output' : undefined
}

/** What names leave out: that a temperature is measured, that a valve is driven. */
function implied(tags: Set<string>, kind: string, quantity: string | undefined, object: 'input' | 'output' | undefined): void {
  if (object === 'input' && !tags.has('sp')) tags.add('sensor').delete('cmd')
  if (object === 'output') tags.add('cmd')
  if (kind === 'number' && quantity === undefined && !tags.has('sp') && !tags.has('sensor')) tags.add('cmd')
  if (quantity !== undefined && !tags.has('sp') && !tags.has('cmd')) tags.add('sensor')
  if (kind === 'number' && quantity === undefined && !tags.has('sensor')) tags.delete('run')
  if (kind !== 'number' && !tags.has('occupied') && !tags.has('mode')) tags.add('run')
  if (tags.has('min') || tags.has('max')) tags.add('sp')
  if (tags.has('sp')) for (const tag of ['cmd', 'sensor', 'run']) tags.delete(tag)
}

/** Equipment whose own running a name need not say twice: `P-1 Status`. */
const MACHINES: readonly EquipmentType[] = ['pump', 'boiler', 'chiller']
const WATERS = ['chilled', 'hot', 'condenser']

const TERMINAL: readonly (EquipmentType | undefined)[] = ['vav', 'zone']

/** The same word means another part on another equipment: a box heats by its reheat coil, and its air is the zone's. */
function local(tags: Set<string>, type: EquipmentType | undefined): void {
  const fed = tags.delete('primary')
  const [handler, box] = [tags.delete('airHandler'), tags.delete('box')]
  if (TERMINAL.includes(type)) {
    // What the box is fed with is the air handler's, also where the box measures or repeats it.
    if (tags.has('temp') && (fed || (handler && !box && tags.has('discharge')))) tags.add('other')
    if (tags.has('heat') && (tags.has('valve') || tags.has('cmd')) && !tags.has('temp')) {
      tags.delete('heat')
      tags.add('reheat').add('valve')
    }
    if (tags.has('flow') || tags.has('damper')) tags.add('discharge').delete('zone')
    if (tags.has('temp') && !tags.has('discharge')) tags.add('zone').add('air')
    if (tags.has('flow')) tags.add('air')
  } else if (
    !tags.has('temp') &&
    !tags.has('flow') &&
    (tags.has('cool') || tags.has('heat') || tags.has('preheat')) &&
    tags.has('cmd')
  ) {
    tags.add('valve')
  }
  if (type !== undefined && !TERMINAL.includes(type)) {
    if (tags.has('fan') && !tags.has('return') && !tags.has('exhaust')) tags.add('discharge').delete('air')
    if (tags.has('fan')) tags.delete('air')
    if (tags.has('pressure') && !tags.has('delta') && !tags.has('building') && !tags.has('water'))
      tags.add('discharge').add('air')
  }
  if (type !== undefined && MACHINES.includes(type) && tags.has('run')) tags.add(type)
  if (type === 'weather' && tags.delete('outside')) tags.add('weather')
  if (tags.has('occupied')) for (const tag of ['mode', 'cmd', 'run', 'sensor']) tags.delete(tag)
  if (WATERS.some(tag => tags.has(tag))) watery(tags)
  tags.delete('duct')
}

/** Supply and return of water are told from where they leave the machine: a condenser is supplied with what enters it. */
function watery(tags: Set<string>): void {
  const [supply, back] = tags.has('condenser') ? ['entering', 'leaving'] : ['leaving', 'entering']
  if (tags.delete('discharge')) tags.add(supply!)
  if (tags.delete('return')) tags.add(back!)
  tags.delete('air')
  tags.add('water')
}
