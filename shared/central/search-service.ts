/** One search over buildings, equipment, points, open faults and rules. Pages and the API call the same function. */
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
} from '#shared/core/search/search-index.ts'
import type { ModelStore } from '#shared/core/stores.ts'
import { EQUIPMENT_WORDS } from '#shared/central/ui/equipment-words.ts'
import { roleWords } from '#shared/central/ui/measure.ts'
import { titleOf } from '#shared/central/ui/words.ts'
import { currentLanguage, say } from '#shared/node/http/language.ts'
import type { Catalogue } from './fdd/rule-views.ts'

/** Entries that stay in memory, about 200 bytes each: those of a thousand boxes. Of further buildings they are made for each search. */
const ENTRIES_MAX = 100_000

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
  model: Pick<ModelStore, 'buildings' | 'equipment' | 'points' | 'revision'>
  findings: Pick<FindingReader, 'active'>
  catalogue: () => Promise<Pick<Catalogue, 'rules' | 'revision'>>
}

/** What is found of one building, and the names of its equipment. */
type BuildingEntries = { revision: number; entries: SearchEntry[]; names: ReadonlyMap<string, string> }

export function createSearch({ model, findings, catalogue }: SearchParts): SearchService {
  /** Entries have words of one language: by language and building, and by language. */
  const byBuilding = new Map<string, BuildingEntries>()
  let kept = 0
  const ofRules = new Map<string, { revision: string; entries: SearchEntry[] }>()

  function modelEntries(building: Building): BuildingEntries {
    const { building_id } = building
    const revision = model.revision(building_id)
    const key = `${currentLanguage()} ${building_id}`
    const known = byBuilding.get(key)
    if (known?.revision === revision) return known
    const equipment = model.equipment(building_id)
    const names = new Map(equipment.map(one => [one.equipment_id, one.name]))
    const made = { revision, entries: entriesOf(building, equipment, model.points(building_id), names), names }
    const more = made.entries.length - (known?.entries.length ?? 0)
    if (known || kept + more <= ENTRIES_MAX) {
      byBuilding.set(key, made)
      kept += more
    }
    return made
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
  return {
    async find({ query, building_id, pages = [], ...how }) {
      const buildings = model.buildings().filter(one => building_id === undefined || one.building_id === building_id)
      const rules = building_id === undefined ? await ruleEntries() : []
      const ofModel = new Map(buildings.map(one => [one.building_id, { name: one.name, ...modelEntries(one) }]))
      const faults = findings.active(building_id).flatMap(one => {
        const place = ofModel.get(one.building_id)
        return place ? [faultEntry(one, place)] : []
      })
      const entries = [...pages, ...rules, ...[...ofModel.values()].flatMap(one => one.entries), ...faults]
      return searchEntries(entries, query, how)
    },
  }
}

/** Titled as in the list of faults: two of one rule are told apart by their role. */
function faultEntry(one: ActiveFinding, { name, names }: Pick<BuildingEntries, 'names'> & { name: string }): SearchEntry {
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
): SearchEntry[] {
  const { building_id, name, site_id } = building
  const own: SearchEntry = {
    kind: 'building',
    id: building_id,
    title: name,
    detail: say`building of ${site_id}`,
    building_id,
    words: searchWords(name, building_id, site_id),
  }
  const ofEquipment = equipment.map(({ equipment_id, name: title, equipment_type }): SearchEntry => {
    const [kind] = EQUIPMENT_WORDS[equipment_type]
    const words = searchWords(title, equipment_id, kind, equipment_type)
    return { kind: 'equipment', id: equipment_id, title, detail: `${kind}, ${name}`, building_id, words }
  })
  const ofPoints = points.map(({ point_id, name: title, role, equipment_id, source }): SearchEntry => {
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
