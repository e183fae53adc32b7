/** The index of the product's documents, rules and routes, read whole into memory. It never changes while it is open. */
import Database from 'better-sqlite3'
import type { RouteEntry } from '#shared/core/documents/route-entry.ts'
import { matchTerms, searchTerms } from '#shared/core/documents/search-terms.ts'
import type { DocumentTag, Playbook, Section } from '#shared/core/documents/sections.ts'
import { APPLICATION_ID, INDEX_VERSION, WORD_TABLES } from './index-schema.ts'

/** Words around a match that a hit repeats, and the most characters of them: a word of a table may be long. */
const EXCERPT_WORDS = 48
const EXCERPT_MAX = 600
/** Most text of one answer, characters: the longest chapter of the documents has about 20,000. */
const TEXT_MAX = 32 * 1024
/** Sections that one answer names. */
const PARTS_MAX = 200

/** `source` is the id of the section. */
type DocumentHit = { source: string; path: string; title: string; chapters: string[]; tags: string[]; excerpt: string }
type DocumentSection = Omit<DocumentHit, 'excerpt'> & {
  /** The section with those below it, or the whole document. */
  text: string
  is_cut: boolean
  /** Sections within it, of which each can be asked for. */
  sections: { source: string; title: string; level: number }[]
}

export type DocumentIndex = {
  readonly sections: number
  /** Tasks that have a playbook, sorted. */
  readonly tasks: string[]
  /**
   * Sections for a query, best first: those with all its words before those with some.
   *
   * @param tags only sections with one of these; undefined or empty for all
   */
  searchSections(query: string, limit: number, tags?: readonly DocumentTag[]): DocumentHit[]
  /** @param pathOrId a path for a whole document, or the id of a section */
  readSection(pathOrId: string): DocumentSection | undefined
  /** Routes of the API for a query, best first. */
  searchRoutes(query: string, limit: number): RouteEntry[]
  findPlaybook(taskType: string): Playbook | undefined
}

type SectionRow = Omit<Section, 'chapters'> & { rowid: number; chapters: string; tag: string }
type HitRow = Omit<SectionRow, 'rowid' | 'level' | 'text'> & { excerpt: string }

/**
 * Reads an index and checks it completely.
 *
 * @param bytes the content of its file, as `writeIndex` makes it
 * @throws Error with the reason when it is damaged, or of another version
 */
export function readIndex(bytes: Buffer): DocumentIndex {
  const db = new Database(bytes)
  assertIndex(db)
  db.pragma('query_only = ON')
  const sectionHits = db.prepare(`
    SELECT s.id, s.path, s.title, s.chapters, s.tag, snippet(section_words, 2, '', '', '…', ${EXCERPT_WORDS}) AS excerpt
    FROM section_words JOIN sections AS s ON s.rowid = section_words.rowid
    WHERE section_words MATCH @match AND (@tags IS NULL OR s.tag IN (SELECT value FROM json_each(@tags)))
    ORDER BY bm25(section_words, 8, 3, 1), s.rowid LIMIT @limit`)
  const routeHits = db.prepare(`
    SELECT r.method, r.path, r.role, r.summary, r.products, r.query, r.body, r.source FROM route_words JOIN routes AS r ON r.rowid = route_words.rowid
    WHERE route_words MATCH @match ORDER BY bm25(route_words, 4, 3, 1, 1), r.rowid LIMIT @limit`)
  const sectionById = db.prepare('SELECT * FROM sections WHERE id = ?')
  const sectionsOfPath = db.prepare('SELECT * FROM sections WHERE path = ? ORDER BY rowid')
  const playbookOf = db.prepare('SELECT * FROM playbooks WHERE task_type = ?')

  return {
    sections: db.prepare('SELECT count(*) FROM sections').pluck().get() as number,
    tasks: db.prepare('SELECT task_type FROM playbooks ORDER BY task_type').pluck().all() as string[],
    searchSections(query, limit, tags = []) {
      const asked = { limit, tags: tags.length > 0 ? JSON.stringify(tags) : null }
      const hits = ranked(
        query,
        limit,
        match => sectionHits.all({ match, ...asked }) as HitRow[],
        ({ id }) => id,
      )
      return hits.map(row => ({ ...hitOf(row), excerpt: row.excerpt.slice(0, EXCERPT_MAX) }))
    },
    readSection(pathOrId) {
      const found = sectionById.get(pathOrId) as SectionRow | undefined
      const all = sectionsOfPath.all(found?.path ?? pathOrId) as SectionRow[]
      const [first] = found ? [found] : all
      return first && sectionOf(first, found ? within(found, all) : all)
    },
    searchRoutes: (query, limit) => ranked(query, limit, match => routeHits.all({ match, limit }) as RouteEntry[], keyOfRoute),
    findPlaybook(taskType) {
      const row = playbookOf.get(taskType) as (Omit<Playbook, 'steps'> & { steps: string }) | undefined
      return row && { ...row, steps: JSON.parse(row.steps) as string[] }
    },
  }
}

/** Hits with all words of a query, then as many with some as are missing. */
function ranked<T>(query: string, limit: number, read: (match: string) => T[], keyOf: (hit: T) => string): T[] {
  const terms = searchTerms(query)
  if (terms.length === 0) return []
  const hits = read(matchTerms(terms, 'AND'))
  if (hits.length >= limit || terms.length === 1) return hits
  const seen = new Set(hits.map(keyOf))
  return [...hits, ...read(matchTerms(terms, 'OR')).filter(hit => !seen.has(keyOf(hit)))].slice(0, limit)
}
const keyOfRoute = ({ method, path }: RouteEntry): string => `${method} ${path}`

/** Tables, and their columns that hold a list as JSON. */
const LISTS = [
  ['sections', 'chapters'],
  ['playbooks', 'steps'],
] as const

/** @throws Error when this is no index that `writeIndex` of this version made, or a page or a list of words is damaged */
function assertIndex(db: Database.Database): void {
  const number = (name: string) => db.pragma(name, { simple: true })
  if (number('application_id') !== APPLICATION_ID) throw new Error('this is not an index of documents')
  const version = number('user_version')
  if (version !== INDEX_VERSION) throw new Error(`it has version ${version}, and this program reads version ${INDEX_VERSION}`)
  const check = number('quick_check(1)')
  if (check !== 'ok') throw new Error(`it is damaged: ${check}`)
  for (const [table, column] of LISTS) {
    const wrong = db.prepare(`SELECT 1 FROM ${table} WHERE NOT json_valid(${column}) OR json_type(${column}) <> 'array' LIMIT 1`)
    if (wrong.get()) throw new Error(`it is damaged: a list of ${column} is none`)
  }
  for (const table of WORD_TABLES) db.exec(`INSERT INTO ${table} (${table}, rank) VALUES ('integrity-check', 1)`)
}

const hitOf = ({ id, path, title, chapters, tag }: Omit<HitRow, 'excerpt'>): Omit<DocumentHit, 'excerpt'> => {
  return { source: id, path, title, chapters: JSON.parse(chapters) as string[], tags: [tag] }
}

/** @returns the section and those below it, of all of its document */
function within(section: SectionRow, all: SectionRow[]): SectionRow[] {
  const from = all.findIndex(({ rowid }) => rowid === section.rowid)
  const end = all.findIndex(({ level }, i) => i > from && level <= section.level)
  return all.slice(from, end < 0 ? undefined : end)
}

function sectionOf(first: SectionRow, parts: SectionRow[]): DocumentSection {
  const written = parts.map(part => (part === first ? part.text : `${'#'.repeat(part.level)} ${part.title}\n\n${part.text}`))
  const text = written.join('\n\n').trim()
  return {
    ...hitOf(first),
    text: text.slice(0, TEXT_MAX),
    is_cut: text.length > TEXT_MAX,
    sections: parts.slice(1, 1 + PARTS_MAX).map(({ id, title, level }) => ({ source: id, title, level })),
  }
}
