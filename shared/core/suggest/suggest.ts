/** Roles that a point may have, with how sure that is and why. Only ever a suggestion: nothing is assigned by it. */
import { parseTarget } from '../bacnet/object.ts'
import { roleOfHeader } from '#shared/core/csv/header-names.ts'
import { EQUIPMENT_TYPES, type EquipmentType, type Point } from '#shared/core/model/model.ts'
import { isMeasured, ROLES } from '#shared/core/model/role.ts'
import { conversion } from '#shared/core/model/unit.ts'
import { complete } from './context.ts'
import { fitsKind, fitsValues, hypothesesOf, type Hypothesis, type Values } from './evidence.ts'
import { mayHave } from './places.ts'
import { SPEED_OF } from './reference-names.ts'
import { bareName, readName, type Reading } from './words.ts'

export type Suggestion = {
  role: string
  /** 0..1: of those with 0.9 nine in ten should be right. */
  confidence: number
  /** In words, for people who decide. */
  why: string[]
}
/** `unit` is left out where nobody has stated one. */
export type Asked = Pick<Point, 'point_id' | 'name' | 'kind' | 'source' | 'role'> & {
  unit?: string
  equipment_type?: EquipmentType
  equipment_id?: string
  /** What people call the equipment, where it is more than its id. */
  equipment_name?: string
  values?: Values
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
/** What is left where a word for on and off names a number, or a word for a signal names a flag. */
const OTHER_WORD = 0.8
/** What is left where a position may be sensed or told. */
const POSITION_SENSED = 0.75
const POSITION_TOLD = 0.65
/** What is left when a role is on or off and the point has numbered states, or the other way round. */
const STATES = 0.6
/** What a point is about: a name that says one of them means no role without it. */
const DECIDING = ['temp', 'humidity', 'pressure', 'flow', 'power', 'energy', 'current', 'co2', 'speed', 'sp']
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

const VOCABULARY = Object.entries(ROLES).map(([role, { haystack, unit, kind, range }]) => {
  return { role, unit, kind, range, tags: new Set(haystack.split(' ').map(canonical).filter(Boolean)) }
})

type Term = (typeof VOCABULARY)[number]
const BY_TYPE = new Map<EquipmentType | undefined, Term[]>(
  [...EQUIPMENT_TYPES, undefined].map(type => [type, VOCABULARY.filter(({ role }) => mayHave(type, role))]),
)

/** What the unit says of a point whose name does not. */
const QUANTITIES: [unit: string, tag: string][] = [
  ['degC', 'temp'],
  ['Pa', 'pressure'],
  ['m3/s', 'flow'],
  ['kW', 'power'],
  ['kWh', 'energy'],
  ['ppm', 'co2'],
  ['A', 'current'],
]
const QUANTITY_TAGS: ReadonlySet<string> = new Set(QUANTITIES.map(([, tag]) => tag))

/**
 * @param points of one equipment, those that have a role already among them: two that look alike make each other doubtful
 * @returns by point without a role, the likeliest first; none where nothing is likely, and no role that the equipment has already
 */
export function suggestRoles(points: readonly Asked[]): Map<string, Suggestion[]> {
  const read = points.map(point => ({ point, reading: readName(point.name, placeOf(point)) }))
  const isZoned = read.some(({ reading: { tags } }) => tags.includes('zone') && tags.includes('temp') && !tags.includes('sp'))
  const found = new Map(read.map(({ point, reading }) => [point.point_id, candidatesOf(point, reading, isZoned)]))
  const claims = Map.groupBy(
    [...found].flatMap(([point_id, [first]]) => (first ? [{ point_id, role: first.role }] : [])),
    ({ role }) => role,
  )
  for (const [role, rivals] of claims) {
    if (rivals.length < 2) continue
    for (const { point_id } of rivals) {
      const own = found.get(point_id)!
      for (const one of own) one.confidence = round(one.confidence * RIVAL)
      own[0]!.why.push(`${rivals.length} points of this equipment look like ${role}`)
    }
  }
  const taken = new Set(points.flatMap(({ role }) => role ?? []))
  const likely = ({ role, confidence }: Suggestion) => confidence >= CONFIDENCE_MIN && !taken.has(role)
  return new Map(
    points.map(({ point_id, role }) => {
      const own = role === undefined ? found.get(point_id)!.filter(likely) : []
      return [point_id, own.toSorted((a, b) => b.confidence - a.confidence)]
    }),
  )
}

const placeOf = ({ equipment_type, equipment_id, equipment_name }: Asked) => ({
  ...(equipment_type && { equipment_type }),
  equipment_names: [equipment_name, equipment_id].flatMap(name => name ?? []),
})

/** The best that each way to read the point gives. */
function candidatesOf(point: Asked, reading: Reading, isZoned: boolean): Suggestion[] {
  const all = hypothesesOf(point).flatMap(hypothesis =>
    positionsOf(reading, point).flatMap(({ share, ...as }) =>
      candidatesAs(hypothesis, point, as, isZoned).map(one => {
        return { ...one, confidence: round(one.confidence * hypothesis.share * share * wordShare(hypothesis, as)) }
      }),
    ),
  )
  const likeliest = [...Map.groupBy(all, ({ role }) => role).values()].map(own => own.toSorted(byConfidence)[0]!)
  const best = likeliest.toSorted(byConfidence)
  const [first, second] = best
  // Without values `RF-O` may be on and off or a speed.
  if (first && second && point.values === undefined && ROLES[first.role]!.kind !== ROLES[second.role]!.kind) {
    first.confidence = round(first.confidence * leadOver(second.confidence / first.confidence))
    for (const one of best) one.confidence = Math.min(one.confidence, first.confidence)
  }
  return best.slice(0, SUGGESTIONS_MAX)
}

/** A word that means on and off, or a signal between, speaks against the other. */
const wordShare = ({ kind, share }: Hypothesis, { tags }: Reading): number =>
  share < 1 && tags.includes(kind === 'number' ? 'binary' : 'analog') ? OTHER_WORD : 1

/** `Damper Position` is where it stands or where it was told to: only the object or a further word tells. */
function positionsOf(reading: Reading, { source }: Asked): (Reading & { share: number })[] {
  const { tags } = reading
  const isOpen = tags.includes('position') && !tags.includes('cmd') && !tags.includes('sensor') && !tags.includes('sp')
  if (!isOpen || objectOf(source) !== undefined) return [{ ...reading, share: 1 }]
  return [
    { ...reading, tags: [...tags, 'sensor'], share: POSITION_SENSED },
    { ...reading, tags: [...tags, 'cmd'], share: POSITION_TOLD },
  ]
}

/** @returns what the likeliest keeps of its confidence when the next one has this share of it */
const leadOver = (share: number): number => 1 - 0.6 * Math.max(0, share - 0.7)

const byConfidence = (a: Suggestion, b: Suggestion): number => b.confidence - a.confidence || (a.role < b.role ? -1 : 1)

function candidatesAs(hypothesis: Hypothesis, point: Asked, reading: Reading, isZoned: boolean): Suggestion[] {
  const { equipment_type, values } = point
  const { kind } = hypothesis
  const vocabulary = BY_TYPE.get(equipment_type)!
  const isPossible = (one: Term) => fitsKind(one, hypothesis) && fitsValues(one, hypothesis, values)
  const named = exactRole(point, hypothesis, reading, isZoned)
  const exact = named === undefined ? undefined : vocabulary.find(({ role }) => role === named)
  if (exact && isPossible(exact))
    return [judged({ role: exact.role, confidence: EXACT, why: ['the name is one that the role has'] }, kind)]
  const said = reading.tags.filter(tag => !UNSAID.has(tag)).map(tag => tag.replaceAll('|', ' or '))
  if (said.length === 0) return []
  const likenessOf = likenessTo(tagsOf(point, hypothesis, reading, isZoned), reading.unread.length)
  const scored = vocabulary
    .flatMap(one => {
      const score = likenessOf(one.tags)
      return score > 0 && isPossible(one) ? [{ role: one.role, score }] : []
    })
    .toSorted((a, b) => b.score - a.score || (a.role < b.role ? -1 : 1))
    .slice(0, SUGGESTIONS_MAX)
  return scored.map(({ role, score }, i) => {
    const rival = scored[i === 0 ? 1 : 0]?.score ?? 0
    const leading = rival === score ? TIE : leadOver(rival / score)
    const sure = i === 0 ? score * leading : score * (score / rival) * 0.5
    return judged({ role, confidence: round(Math.min(EXACT, sure)), why: [`the name says ${said.join(', ')}`] }, kind)
  })
}

/** Tags that are no reason by themselves. */
const UNSAID: ReadonlySet<string> = new Set(['airHandler', 'box', 'rh', 'primary', 'analog', 'binary'])

/** The role that has the whole name. */
function exactRole(point: Asked, { kind }: Hypothesis, { tags }: Reading, isZoned: boolean): string | undefined {
  const { name, source, equipment_type = 'ahu' } = point
  const named = roleOfHeader(bareName(name), equipment_type)
  const role = named !== undefined && kind === 'number' ? (SPEED_OF[named] ?? named) : named
  if (role === undefined || (objectOf(source) === 'input' && !isMeasured(role))) return undefined
  // A set point of cooling or heating is the room's where the equipment has one, and the supply air's where it does not.
  const isRooms = role === 'sa_t_sp' && !tags.includes('discharge') && (isZoned || equipment_type !== 'ahu')
  return isRooms ? undefined : role
}

/** States are numbered from 1 in BACnet: one that is on or off by its role would then never be off. */
function judged(suggestion: Suggestion, kind: string): Suggestion {
  const asked = ROLES[suggestion.role]!.kind
  if (asked === kind) return suggestion
  const doubt = kind === 'enum' ? 'it has numbered states, and only 0 is off' : 'it is only on or off'
  return { ...suggestion, confidence: round(suggestion.confidence * STATES), why: [...suggestion.why, doubt] }
}

const round = (value: number): number => Math.round(value * 100) / 100

/** What both say over all that either says; what is no word at all counts a little against it. */
function likenessTo(named: ReadonlySet<string>, unread: number): (role: ReadonlySet<string>) => number {
  const deciding = DECIDING.filter(tag => named.has(tag))
  const said = total(named)
  return role => {
    if (deciding.some(tag => !role.has(tag))) return 0
    let [both, missing, isVague] = [0, 0, true]
    for (const tag of role) {
      if (!named.has(tag)) missing += weigh(tag)
      else {
        both += weigh(tag)
        isVague &&= VAGUE.has(tag)
      }
    }
    return isVague || both < 1 ? 0 : both / (said + missing + 0.15 * unread)
  }
}

/** The tags of a name, completed by unit, object and equipment. */
function tagsOf({ equipment_type, source }: Asked, { kind, unit }: Hypothesis, reading: Reading, isZoned: boolean): Set<string> {
  const tags = new Set(reading.tags.flatMap(tag => chosen(tag, kind)))
  const quantity = kind === 'number' ? quantityOf(tags, unit) : undefined
  if (quantity) tags.add(quantity)
  complete(tags, { type: equipment_type, kind, quantity, object: objectOf(source), isZoned })
  return tags
}

/** What the unit measures; where none is stated, what the name says. A set point of cooling or heating is then a temperature. */
function quantityOf(tags: ReadonlySet<string>, unit: string | undefined): string | undefined {
  if (unit !== undefined) return QUANTITIES.find(([code]) => conversion(unit, code))?.[1]
  const said = [...tags].find(tag => QUANTITY_TAGS.has(tag))
  return said ?? (tags.has('sp') && (tags.has('cool') || tags.has('heat')) ? 'temp' : undefined)
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
