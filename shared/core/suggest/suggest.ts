/** Suggests roles for points, with confidence and reasons. Nothing is assigned. */
import { nameTable } from '#shared/core/name-table.ts'
import { parseTarget } from '../bacnet/object.ts'
import { roleOfHeader } from '#shared/core/csv/header-names.ts'
import { EQUIPMENT_TYPES, type EquipmentType, type Point } from '#shared/core/model/model.ts'
import { isMeasured, ROLES } from '#shared/core/model/role.ts'
import { conversion } from '#shared/core/model/unit.ts'
import { complete } from './context.ts'
import { fitsKind, fitsValues, hypothesesOf, type Hypothesis, type Values } from './evidence.ts'
import { areGerman } from './german.ts'
import { mayHave } from './places.ts'
import { SPEED_OF } from './reference-names.ts'
import { readTogether } from './siblings.ts'
import { bareName, readName, type Reading } from './words.ts'

export type Suggestion = {
  role: string
  /** 0 to 1; nine of ten suggestions with 0.9 should be right. */
  confidence: number
  /** Reasons in words, for the person who decides. */
  why: string[]
}
/** `unit` is left out where it is not stated. */
export type Asked = Pick<Point, 'point_id' | 'name' | 'kind' | 'source' | 'role'> & {
  unit?: string
  equipment_type?: EquipmentType
  equipment_id?: string
  /** The name of the equipment, where it differs from its id. */
  equipment_name?: string
  values?: Values
}

/** Suggestions below this confidence help less than the name alone. */
const CONFIDENCE_MIN = 0.4
/** Confidence where the name equals the name of a role, an alias, its Haystack tags or its Brick class. */
const EXACT = 0.98
const SUGGESTIONS_MAX = 3
/** Factor for two points of one equipment with the same suggestion: at most one of them is right. */
const RIVAL = 0.5
/** Factor for two roles that fit a name equally: at most one of them is right. */
const TIE = 0.5
/** Factor where a word for on and off names a number, or a word for a signal names a flag. */
const OTHER_WORD = 0.8
/** Factors where a position may be measured or commanded. */
const POSITION_SENSED = 0.75
const POSITION_TOLD = 0.65
/** Factor where the role is on or off and the point has numbered states, or the other way round. */
const STATES = 0.6
/** Decisive tags: a name with one of them never means a role without it. */
const DECIDING = ['temp', 'humidity', 'pressure', 'flow', 'power', 'energy', 'current', 'co2', 'speed', 'sp']
/** Tags that do not identify a component. */
const VAGUE = new Set([...DECIDING, 'cmd', 'sensor', 'run', 'position', 'min', 'max', 'air', 'water', 'delta'])
/** Weights of tags that the name lacks or has in addition; others weigh 1. */
const WEIGHTS = nameTable<number>({
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
})
const weigh = (tag: string): number => WEIGHTS[tag] ?? 1
const total = (tags: Iterable<string>): number => [...tags].reduce((sum, tag) => sum + weigh(tag), 0)

const SAME = nameTable<string>({ heating: 'heat', cooling: 'cool', active: '' })
const canonical = (tag: string): string => SAME[tag] ?? tag

const VOCABULARY = Object.entries(ROLES).map(([role, { haystack, unit, kind, range }]) => {
  return { role, unit, kind, range, tags: new Set(haystack.split(' ').map(canonical).filter(Boolean)) }
})

type Term = (typeof VOCABULARY)[number]
const BY_TYPE = new Map<EquipmentType | undefined, Term[]>(
  [...EQUIPMENT_TYPES, undefined].map(type => [type, VOCABULARY.filter(({ role }) => mayHave(type, role))]),
)

/** Quantity tags by unit, for names without one. */
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
 * @param points points of one equipment, including those with a role: two similar points reduce their confidence
 * @returns by point without a role, the most likely first; none where nothing is likely, and no role that the equipment has
 *   already
 */
export function suggestRoles(points: readonly Asked[]): Map<string, Suggestion[]> {
  const isGerman = areGerman(points.map(({ name }) => name))
  const readings = readTogether(points.map(point => readName(point.name, { ...placeOf(point), isGerman })))
  const read = points.map((point, i) => ({ point, reading: readings[i]! }))
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
      own[0]!.why.push(`${rivals.length} points of this equipment fit ${role}`)
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

/** The best candidates of each interpretation of the point. */
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
  // Without values `RF-O` may be a command or a speed.
  if (first && second && point.values === undefined && ROLES[first.role]!.kind !== ROLES[second.role]!.kind) {
    first.confidence = round(first.confidence * leadOver(second.confidence / first.confidence))
    for (const one of best) one.confidence = Math.min(one.confidence, first.confidence)
  }
  return best.slice(0, SUGGESTIONS_MAX)
}

/** Reduces the confidence where a word means on and off and the point is a signal, or the other way round. */
const wordShare = ({ kind, share }: Hypothesis, { tags }: Reading): number =>
  share < 1 && tags.includes(kind === 'number' ? 'binary' : 'analog') ? OTHER_WORD : 1

/** `Damper Position` may be measured or commanded: only the object or another word decides. */
function positionsOf(reading: Reading, { source }: Asked): (Reading & { share: number })[] {
  const { tags } = reading
  const isOpen = tags.includes('position') && !tags.includes('cmd') && !tags.includes('sensor') && !tags.includes('sp')
  if (!isOpen || objectOf(source) !== undefined) return [{ ...reading, share: 1 }]
  return [
    { ...reading, tags: [...tags, 'sensor'], share: POSITION_SENSED },
    { ...reading, tags: [...tags, 'cmd'], share: POSITION_TOLD },
  ]
}

/** @returns factor for the most likely role when the next one has this share of its confidence */
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
    return [withKindDoubt({ role: exact.role, confidence: EXACT, why: ['the name is a known name of the role'] }, kind)]
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
    return withKindDoubt({ role, confidence: round(Math.min(EXACT, sure)), why: [`the name contains ${said.join(', ')}`] }, kind)
  })
}

/** Tags that are not listed as a reason. */
const UNSAID: ReadonlySet<string> = new Set(['airHandler', 'box', 'rh', 'primary', 'analog', 'binary'])

/** The role with exactly this name. */
function exactRole(point: Asked, { kind }: Hypothesis, { tags }: Reading, isZoned: boolean): string | undefined {
  const { name, source, equipment_type = 'ahu' } = point
  const named = roleOfHeader(bareName(name), equipment_type)
  const role = named !== undefined && kind === 'number' ? (SPEED_OF[named] ?? named) : named
  if (role === undefined || (objectOf(source) === 'input' && !isMeasured(role))) return undefined
  // A cooling or heating set point belongs to the room where the equipment has one, otherwise to the supply air.
  const isRooms = role === 'sa_t_sp' && !tags.includes('discharge') && (isZoned || equipment_type !== 'ahu')
  return isRooms ? undefined : role
}

/** BACnet numbers states from 1: a point that is on or off by its role would never be off. */
function withKindDoubt(suggestion: Suggestion, kind: string): Suggestion {
  const asked = ROLES[suggestion.role]!.kind
  if (asked === kind) return suggestion
  const doubt = kind === 'enum' ? 'it has numbered states, and only 0 is off' : 'it is only on or off'
  return { ...suggestion, confidence: round(suggestion.confidence * STATES), why: [...suggestion.why, doubt] }
}

const round = (value: number): number => Math.round(value * 100) / 100

/** Weight of common tags over the weight of all tags; unknown words count a little against it. */
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

/** The quantity of the unit; without a unit, that of the name. A cooling or heating set point is then a temperature. */
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
