/** Searches names, ids, roles and addresses: which entries have every word that was typed, and which fit best. */

export const SEARCH_KINDS = ['page', 'building', 'equipment', 'fault', 'rule', 'point'] as const
export type SearchKind = (typeof SEARCH_KINDS)[number]

/** Something that can be found. `id` is unique within its kind and building. */
export type SearchEntry = {
  kind: SearchKind
  id: string
  title: string
  /** Where it is or what it is, in a few words. */
  detail: string
  building_id?: string
  equipment_id?: string
  /** All that it is found by, in lower case, parts separated by line feeds: title first. */
  words: string
}
export type SearchResult = {
  /** How many entries of each kind have every word. */
  counts: Record<SearchKind, number>
  /** The best first. */
  hits: SearchEntry[]
}

/** Words of a query that count; nobody types more. */
const WORDS_MAX = 8

const ASCII = /^[^\u0080-\uffff]*$/
/**
 * Text as it is compared: in lower case, each letter in one form, and without marks that nobody sees. Files of other systems write
 * an umlaut as a letter and a mark, devices pad names with characters of no width, and a person types neither.
 */
const foldText = (text: string): string =>
  ASCII.test(text)
    ? text.toLowerCase()
    : text
        .normalize('NFKC')
        .replaceAll(/\p{Cf}/gu, '')
        .toLowerCase()

/** @returns the words of a query, each of which has to occur */
export const wordsOf = (query: string): string[] => foldText(query).split(/\s+/).filter(Boolean).slice(0, WORDS_MAX)

/** Whether every word of a query is in what `searchWords` made; so it is for a query without a word. */
export const hasWords = (words: string, query: string): boolean => wordsOf(query).every(word => words.includes(word))

/** @param parts title first; undefined ones are left out */
export const searchWords = (...parts: (string | undefined)[]): string =>
  foldText(parts.filter(part => part !== undefined && part !== '').join('\n'))

/** What an entry is found by. */
type Findable = Pick<SearchEntry, 'kind' | 'words'>

/**
 * @param kind only entries of this kind are among the hits; the counts are of all
 * @param limit most hits
 * @returns nothing for a query without a word; of entries that fit equally well the first by their words, so by title
 */
export function searchEntries<E extends Findable>(
  entries: Iterable<E>,
  query: string,
  { limit, kind }: { limit: number; kind?: SearchKind | undefined },
): { counts: SearchResult['counts']; hits: E[] } {
  const words = wordsOf(query)
  const counts = { page: 0, building: 0, equipment: 0, fault: 0, rule: 0, point: 0 }
  if (words.length === 0) return { counts, hits: [] }
  // Never more than asked for: a common word is in every point of a hub.
  const best: { entry: E; rank: number }[] = []
  for (const entry of entries) {
    const rank = rankOf(entry, words)
    if (rank === undefined) continue
    counts[entry.kind]++
    if (kind !== undefined && entry.kind !== kind) continue
    const found = { entry, rank }
    const last = best[limit - 1]
    if (last && !isBefore(found, last)) continue
    let at = best.length
    while (at > 0 && isBefore(found, best[at - 1]!)) at--
    best.splice(at, 0, found)
    if (best.length > limit) best.pop()
  }
  return { counts, hits: best.map(({ entry }) => entry) }
}

type Ranked = { entry: Findable; rank: number }
const isBefore = (a: Ranked, b: Ranked): boolean => (a.rank === b.rank ? a.entry.words < b.entry.words : a.rank < b.rank)

/** What is fewer comes first where words fit equally well, and what is of the building before what is of the program. */
const KIND_RANK: Record<SearchKind, number> = { building: 0, equipment: 1, fault: 2, point: 3, page: 4, rule: 5 }
/** A worse fit of a word weighs more than any kind. */
const WORD_WEIGHT = 10

/** @returns lower for a better fit; undefined unless every word is in the entry */
function rankOf({ words, kind }: Findable, asked: readonly string[]): number | undefined {
  let rank = KIND_RANK[kind]
  for (const word of asked) {
    const at = words.indexOf(word)
    if (at < 0) return undefined
    rank += WORD_WEIGHT * fitOf(words, word, at)
  }
  return rank
}

/** 0 at the very beginning or as a whole part, 1 at the beginning of a word, 2 within one. */
function fitOf(words: string, word: string, first: number): number {
  if (first === 0) return 0
  let best = 2
  for (let at = first; at >= 0 && best > 0; at = words.indexOf(word, at + 1)) {
    const [before, after] = [words[at - 1], words[at + word.length]]
    if (before === '\n' && (after === undefined || after === '\n')) best = 0
    else if (/[^a-z0-9]/.test(before!)) best = Math.min(best, 1)
  }
  return best
}
