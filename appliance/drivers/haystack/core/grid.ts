/**
 * Grids as this program holds them: the plain values of Hayson, Project Haystack's JSON encoding, whatever they came as.
 *
 * @source project-haystack.org/doc/docHaystack/Json (Hayson) and /HttpApi (error grids)
 */

/** Tags by name. A tag that is absent or null has no value. */
export type Dict = Readonly<Record<string, unknown>>
export type Grid = { meta: Dict; cols: string[]; rows: Dict[] }

/** `value` may be NaN or infinite; `unit` as the server writes it. */
type HaystackNumber = { value: number; unit: string | undefined }

const NUMBERS: Record<string, number> = { NaN: Number.NaN, INF: Infinity, '-INF': -Infinity }
/** Longest text of a server that goes into a message. */
const TEXT_MAX = 300

const isDict = (value: unknown): value is Dict => typeof value === 'object' && value !== null && !Array.isArray(value)

/** @returns the grid, or in words why the value is none */
export function takeGrid(value: unknown): Grid | string {
  if (!isDict(value)) return 'the answer is no grid'
  if (value._kind !== 'grid') {
    const isOld = Array.isArray(value.cols) && Array.isArray(value.rows)
    return isOld ? 'the grid is in the JSON of Haystack 3, which is not read' : 'the answer is no grid'
  }
  const { meta = {}, cols = [], rows = [] } = value
  if (!isDict(meta)) return 'the meta of the grid is no dictionary'
  if (!Array.isArray(cols) || !cols.every(col => isDict(col) && typeof col.name === 'string')) {
    return 'the grid has a column without a name'
  }
  const names = cols.map(col => (col as { name: string }).name)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) return `the grid has two columns "${cut(twice)}"`
  if (!Array.isArray(rows)) return 'the rows of the grid are no list'
  const crooked = rows.findIndex(row => !isDict(row))
  return crooked < 0 ? { meta, cols: names, rows } : `row ${crooked} of the grid is no dictionary`
}

/** A grid to send. */
export const makeGrid = (rows: readonly Dict[], meta: Dict = {}): Grid => ({
  meta: { ver: '3.0', ...meta },
  cols: rows.length ? [...new Set(rows.flatMap(row => Object.keys(row)))] : ['empty'],
  rows: [...rows],
})

export const makeRef = (id: string): Dict => ({ _kind: 'ref', val: id })
export const makeNumber = (val: number, unit: string): Dict => ({ _kind: 'number', val, unit })
export const MARKER: Dict = { _kind: 'marker' }

/** @returns what a server says went wrong; undefined when the grid is no error grid. It comes with HTTP 200 as well */
export function errorOf({ meta }: Grid): string | undefined {
  if (meta.err === undefined || meta.err === null || meta.err === false) return undefined
  return textOf(meta.dis) ?? textOf(meta.errType) ?? 'the server gives no reason'
}

/** @returns the id of a reference, without `@` and display name */
export const refOf = (cell: unknown): string | undefined =>
  isDict(cell) && cell._kind === 'ref' && typeof cell.val === 'string' ? cell.val : undefined

export function numberOf(cell: unknown): HaystackNumber | undefined {
  if (typeof cell === 'number') return { value: cell, unit: undefined }
  if (!isDict(cell) || cell._kind !== 'number') return undefined
  const { val, unit } = cell
  const value = typeof val === 'number' ? val : typeof val === 'string' ? NUMBERS[val] : undefined
  return value === undefined ? undefined : { value, unit: typeof unit === 'string' && unit !== '' ? unit : undefined }
}

/** @returns a text, shortened to what a message can hold */
export const textOf = (cell: unknown): string | undefined => (typeof cell === 'string' && cell !== '' ? cut(cell) : undefined)

/** What a cell is, in the words of Project Haystack. */
export function kindOf(cell: unknown): string {
  if (cell === undefined || cell === null) return 'null'
  if (typeof cell === 'number') return 'number'
  if (typeof cell === 'boolean') return 'bool'
  if (typeof cell === 'string') return 'str'
  if (Array.isArray(cell)) return 'list'
  const { _kind } = cell as Dict
  return typeof _kind === 'string' ? _kind : 'dict'
}

function cut(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > TEXT_MAX ? `${line.slice(0, TEXT_MAX)}…` : line
}
