/** Values of the simulated Haystack server, written as Zinc and Hayson without a library. */

type SimNumber = { num: number | 'NaN' | 'INF' | '-INF'; unit?: string }
type SimRef = { ref: string; dis?: string }
export type SimCell =
  | null
  | boolean
  | string
  | SimNumber
  | SimRef
  | { kind: 'marker' | 'na' | 'remove' }
  | { list: SimCell[] }
  | { dict: Record<string, SimCell> }
  | { sym: string }
  | { at: string }
  /** Sent unchanged in Zinc; for text that no reader should accept. */
  | { raw: string }
export type SimRow = Record<string, SimCell>
export type SimGrid = { meta?: SimRow; rows: SimRow[]; cols?: string[] }

const KINDS = { marker: 'M', na: 'NA', remove: 'R' } as const

const quote = (text: string) =>
  `"${text
    .replace(/[\\"$]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t')}"`

function zincCell(cell: SimCell | undefined): string {
  if (cell === null || cell === undefined) return ''
  if (typeof cell === 'boolean') return cell ? 'T' : 'F'
  if (typeof cell === 'string') return quote(cell)
  if ('num' in cell) return `${cell.num}${cell.unit ?? ''}`
  if ('ref' in cell) return `@${cell.ref}${cell.dis === undefined ? '' : ` ${quote(cell.dis)}`}`
  if ('kind' in cell) return KINDS[cell.kind]
  if ('list' in cell) return `[${cell.list.map(zincCell).join(', ')}]`
  if ('raw' in cell) return cell.raw
  if ('sym' in cell) return `^${cell.sym}`
  if ('at' in cell) return `${cell.at} UTC`
  return `{${zincTags(cell.dict)}}`
}

const zincTags = (tags: SimRow): string =>
  Object.entries(tags)
    .filter(([, cell]) => cell !== null)
    .map(([name, cell]) =>
      typeof cell === 'object' && 'kind' in cell! && cell.kind === 'marker' ? name : `${name}:${zincCell(cell)}`,
    )
    .join(' ')

const colsOf = ({ rows, cols }: SimGrid): string[] => {
  const names = cols ?? [...new Set(rows.flatMap(row => Object.keys(row)))]
  return names.length ? names : ['empty']
}

export function writeZincGrid(grid: SimGrid, ver: string): string {
  const cols = colsOf(grid)
  const meta = grid.meta ? ` ${zincTags(grid.meta)}` : ''
  // A row of one empty cell would be an empty line, which ends the grid.
  const line = (row: SimRow) => cols.map(name => zincCell(row[name])).join(',') || 'N'
  return [`ver:"${ver}"${meta}`, cols.join(','), ...grid.rows.map(line), ''].join('\n')
}

function haysonCell(cell: SimCell): unknown {
  if (cell === null || typeof cell !== 'object') return cell
  if ('num' in cell) {
    return typeof cell.num === 'number' && cell.unit === undefined
      ? cell.num
      : { _kind: 'number', val: cell.num, unit: cell.unit }
  }
  if ('ref' in cell) return { _kind: 'ref', val: cell.ref, dis: cell.dis }
  if ('kind' in cell) return { _kind: cell.kind }
  if ('list' in cell) return cell.list.map(haysonCell)
  if ('raw' in cell) return { _kind: 'odd', val: cell.raw }
  if ('sym' in cell) return { _kind: 'symbol', val: cell.sym }
  if ('at' in cell) return { _kind: 'dateTime', val: cell.at, tz: 'UTC' }
  return haysonTags(cell.dict)
}

const haysonTags = (tags: SimRow): Record<string, unknown> =>
  Object.fromEntries(Object.entries(tags).map(([name, cell]) => [name, haysonCell(cell)]))

export const writeHaysonGrid = (grid: SimGrid, ver: string): string =>
  JSON.stringify({
    _kind: 'grid',
    meta: { ver, ...haysonTags(grid.meta ?? {}) },
    cols: colsOf(grid).map(name => ({ name })),
    rows: grid.rows.map(haysonTags),
  })

/** The arguments of a request that the simulated ops use. */
export type SimQuestion = {
  watchId?: string
  leaseMin?: number
  close: boolean
  ids: string[]
  filter?: string
  limit?: number
}

export function readQuestion(text: string, isHayson: boolean): SimQuestion {
  return isHayson ? readHaysonQuestion(JSON.parse(text || '{}')) : readZincQuestion(text)
}

function readZincQuestion(text: string): SimQuestion {
  const [head = '', cols = '', ...lines] = text.split('\n')
  const names = cols.split(',')
  const texts = [...(lines[0] ?? '').matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, one]) => one!.replace(/\\(.)/g, '$1'))
  const limit = /,(\d+)$/.exec(lines[0] ?? '')?.[1]
  return {
    ...optional('watchId', /watchId:"([^"]*)"/.exec(head)?.[1]),
    ...optional('leaseMin', numeral(/lease:(\d+)min/.exec(head)?.[1])),
    close: /\bclose\b/.test(head),
    ids: names.includes('id') ? lines.flatMap(line => /^@([^\s,"]+)/.exec(line)?.[1] ?? []) : [],
    ...optional('filter', names.includes('filter') ? texts[0] : undefined),
    ...optional('limit', numeral(limit)),
  }
}

type Hayson = { meta?: Record<string, any>; rows?: Record<string, any>[] }

function readHaysonQuestion({ meta = {}, rows = [] }: Hayson): SimQuestion {
  return {
    ...optional('watchId', meta.watchId as string | undefined),
    ...optional('leaseMin', meta.lease?.val as number | undefined),
    close: meta.close !== undefined,
    ids: rows.flatMap(row => (row.id?._kind === 'ref' ? [row.id.val as string] : [])),
    ...optional('filter', rows[0]?.filter as string | undefined),
    ...optional('limit', rows[0]?.limit as number | undefined),
  }
}

const numeral = (text: string | undefined) => (text === undefined ? undefined : Number(text))
const optional = <K extends string, V>(key: K, value: V | undefined) =>
  (value === undefined ? {} : { [key]: value }) as { [P in K]?: V }
