/** One search over buildings, equipment, points, open faults and rules. Pages and the API call the same function. */
import { setImmediate } from 'node:timers/promises'
import { addressText, addressWords } from '#shared/core/bacnet/object-name.ts'
import type { ActiveFinding } from '#shared/core/findings/finding.ts'
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import type { FindingReader } from '#shared/core/ports.ts'
import {
  searchEntries,
  type SearchEntry,
  type SearchKind,
  type SearchResult,
  searchWords,
  wordsOf,
} from '#shared/core/search/search-index.ts'
import type { ModelStore } from '#shared/core/stores.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import type { SearchText, SearchTexts } from '#shared/node/model/search-texts.ts'
import { EQUIPMENT_WORDS } from '#shared/central/ui/equipment-words.ts'
import { roleWords } from '#shared/central/ui/measure.ts'
import { titleOf } from '#shared/central/ui/words.ts'
import { currentLanguage, say } from '#shared/node/http/language.ts'
import type { Catalogue } from './fdd/rule-views.ts'

/** Buildings whose texts are made before something else has its turn: each takes half a millisecond. */
const MADE_AT_ONCE = 20
/** Stands between the entries of a building, and in none. */
const BREAK = '\u001e'
/** Stands before the words of an entry. */
const KIND_LETTERS = { building: 'b', equipment: 'e', point: 'p' } as const
const KINDS = new Map(Object.entries(KIND_LETTERS).map(([kind, letter]) => [letter as string, kind as keyof typeof KIND_LETTERS]))

type SearchQuery = {
  query: string
  limit: number
  kind?: SearchKind | undefined
  /** Only this building, and no rule. */
  building_id?: string | undefined
  /** Pages that the caller may open. */
  pages?: readonly SearchEntry[]
}
export type SearchService = { find(asked: SearchQuery): Promise<SearchResult> }
type SearchParts = {
  model: Pick<ModelStore, 'buildings' | 'equipment' | 'points' | 'revision' | 'revisions'>
  texts: SearchTexts
  findings: Pick<FindingReader, 'active'>
  catalogue: () => Promise<Pick<Catalogue, 'rules' | 'revision'>>
}

type ModelEntry = SearchEntry & { kind: keyof typeof KIND_LETTERS }
/** What a list shows of an entry of the model; kind and words are known where it was found. */
type Shown = Omit<SearchEntry, 'kind' | 'words' | 'building_id'>
/** An entry in the text of a building. */
type Place = { kind: keyof typeof KIND_LETTERS; words: string; building_id: string; at: number }

export function createSearch({ model, findings, catalogue, texts }: SearchParts): SearchService {
  /** Titles have words of one language. */
  const ofRules = new Map<string, { revision: string; entries: SearchEntry[] }>()
  const inTurn = createSerialQueue()

  /** Makes the texts of buildings that have changed. */
  async function makeTexts(language: string, buildings: Building[]): Promise<void> {
    const made = texts.revisions(language)
    const present = model.revisions()
    const changed = buildings.filter(({ building_id }) => made.get(building_id) !== (present.get(building_id) ?? 0))
    for (let first = 0; first < changed.length; first += MADE_AT_ONCE) {
      if (first > 0) await setImmediate()
      const some = changed.slice(first, first + MADE_AT_ONCE).map(building => textOf(language, building))
      if (texts.put(some) === 'begun anew') return makeTexts(language, buildings)
    }
  }
  function textOf(language: string, building: Building): SearchText {
    const { building_id } = building
    const revision = model.revision(building_id)
    const equipment = model.equipment(building_id)
    const names = new Map(equipment.map(one => [one.equipment_id, one.name]))
    const entries = entriesOf(building, equipment, model.points(building_id), names)
    return {
      ...{ language, building_id, revision, names: JSON.stringify([...names]) },
      words: entries.map(({ kind, words }) => KIND_LETTERS[kind] + words.replaceAll(BREAK, ' ')).join(BREAK),
      shown: JSON.stringify(entries.map(({ kind: _kind, words: _words, building_id: _building, ...shown }) => shown)),
    }
  }
  function* places(
    language: string,
    words: string[],
    building_id: string | undefined,
    known: ReadonlySet<string>,
  ): Generator<Place> {
    for (const text of texts.having(language, words, building_id)) {
      if (!known.has(text.building_id)) continue
      for (const [at, one] of text.words.split(BREAK).entries()) {
        yield { kind: KINDS.get(one[0]!)!, words: one.slice(1), building_id: text.building_id, at }
      }
    }
  }
  async function ruleEntries(): Promise<SearchEntry[]> {
    const known = await catalogue()
    const language = currentLanguage()
    const made = ofRules.get(language)
    if (made?.revision === known.revision) return made.entries
    const entries = known.rules.map(
      ({ id, title, roles }): SearchEntry => ({
        kind: 'rule',
        id,
        title,
        detail: id,
        words: searchWords(title, say(title), id, ...Object.keys(roles)),
      }),
    )
    ofRules.set(language, { revision: known.revision, entries })
    return entries
  }
  function* faultEntries(
    language: string,
    building_id: string | undefined,
    known: ReadonlyMap<string, string>,
  ): Generator<SearchEntry> {
    const active = findings.active(building_id)
    if (active.length === 0) return
    const names = new Map<string, string>()
    for (const text of texts.names(language)) names.set(text.building_id, text.names)
    for (const [own, ofOne] of Map.groupBy(active, one => one.building_id)) {
      const name = known.get(own)
      if (name === undefined) continue
      const equipment = new Map(JSON.parse(names.get(own) ?? '[]') as [string, string][])
      for (const one of ofOne) yield faultEntry(one, { name, names: equipment })
    }
  }
  return {
    async find({ query, building_id, pages = [], ...how }) {
      const language = currentLanguage()
      const words = wordsOf(query)
      const rules = building_id === undefined ? await ruleEntries() : []
      const buildings = model.buildings().filter(one => building_id === undefined || one.building_id === building_id)
      if (words.length > 0) await inTurn(() => makeTexts(language, buildings))
      const known = new Map(buildings.map(one => [one.building_id, one.name]))
      const ofModel = places(language, words, building_id, new Set(known.keys()))
      const { counts, hits } = searchEntries(
        chain<SearchEntry | Place>(pages, rules, ofModel, faultEntries(language, building_id, known)),
        query,
        how,
      )
      const shown = new Map<string, Shown[]>()
      return { counts, hits: hits.map(hit => ('at' in hit ? entryAt(hit, language, shown) : hit)) }
    },
  }

  function entryAt({ kind, words, building_id, at }: Place, language: string, read: Map<string, Shown[]>): SearchEntry {
    const shown = read.get(building_id) ?? (JSON.parse(texts.shown(language, building_id)!) as Shown[])
    read.set(building_id, shown)
    const { equipment_id, ...rest } = shown[at]!
    return { kind, ...rest, building_id, ...(equipment_id !== undefined && { equipment_id }), words }
  }
}

function* chain<T>(...parts: Iterable<T>[]): Generator<T> {
  for (const part of parts) yield* part
}

/** Titled as in the list of faults: two of one rule are told apart by their role. */
function faultEntry(one: ActiveFinding, { name, names }: { name: string; names: ReadonlyMap<string, string> }): SearchEntry {
  const { finding_id, title, rule_id, equipment_id, building_id } = one
  const shown = titleOf(one)
  const equipment = names.get(equipment_id) ?? equipment_id
  return {
    kind: 'fault',
    id: finding_id,
    title: shown,
    detail: `${equipment}, ${name}`,
    building_id,
    words: searchWords(shown, title, rule_id, equipment_id, equipment),
  }
}

function entriesOf(
  building: Building,
  equipment: Equipment[],
  points: Point[],
  names: ReadonlyMap<string, string>,
): ModelEntry[] {
  const { building_id, name, site_id } = building
  const own: ModelEntry = {
    kind: 'building',
    id: building_id,
    title: name,
    detail: say`building of ${site_id}`,
    building_id,
    words: searchWords(name, building_id, site_id),
  }
  const ofEquipment = equipment.map(({ equipment_id, name: title, equipment_type }): ModelEntry => {
    const [kind] = EQUIPMENT_WORDS[equipment_type]
    const words = searchWords(title, equipment_id, kind, equipment_type)
    return { kind: 'equipment', id: equipment_id, title, detail: `${kind}, ${name}`, building_id, words }
  })
  const ofPoints = points.map(({ point_id, name: title, role, equipment_id, source }): ModelEntry => {
    const place = equipment_id === undefined ? undefined : (names.get(equipment_id) ?? equipment_id)
    return {
      kind: 'point',
      id: point_id,
      title,
      detail: [place ?? say`of no equipment`, role, addressText(source)].filter(Boolean).join(', '),
      building_id,
      ...(equipment_id !== undefined && { equipment_id }),
      words: searchWords(title, point_id, role, role && roleWords(role), ...addressWords(source), place),
    }
  })
  return [own, ...ofEquipment, ...ofPoints]
}
