/**
 * Grids in memory: the plain values of Hayson, Project Haystack's JSON encoding, for every format of the wire.
 *
 * @source project-haystack.org/doc/docHaystack/Json (Hayson) and /HttpApi (error grids)
 */
import { nameTable } from '#shared/core/name-table.ts'

/** Tags by name. A tag that is absent or null has no value. */
export type Dict = Readonly<Record<string, unknown>>
export type Grid = { meta: Dict; cols: string[]; rows: Dict[] }

/** `value` may be NaN or infinite; `unit` is the server's text. */
type HaystackNumber = { value: number; unit: string | undefined }

const NUMBERS = nameTable<number>({ NaN: Number.NaN, INF: Infinity, '-INF': -Infinity })
/** Maximum length of a server's text in a message; longer ones are shortened. */
const TEXT_MAX = 300

const isDict = (value: unknown): value is Dict => typeof value === 'object' && value !== null && !Array.isArray(value)

/** @returns the grid, or the reason why the value is not one */
export function takeGrid(value: unknown): Grid | string {
  if (!isDict(value)) return 'the answer is not a grid'
  if (value._kind !== 'grid') {
    const isOld = Array.isArray(value.cols) && Array.isArray(value.rows)
    return isOld ? 'the grid is in the JSON of Haystack 3, which is not supported' : 'the answer is not a grid'
  }
  const { meta = {}, cols = [], rows = [] } = value
  if (!isDict(meta)) return 'the meta of the grid is not a dictionary'
  if (!Array.isArray(cols) || !cols.every(col => isDict(col) && typeof col.name === 'string')) {
    return 'the grid has a column without a name'
  }
  const names = cols.map(col => (col as { name: string }).name)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) return `the grid has two columns "${shorten(twice)}"`
  if (!Array.isArray(rows)) return 'the rows of the grid are not a list'
  const invalid = rows.findIndex(row => !isDict(row))
  return invalid < 0 ? { meta, cols: names, rows } : `row ${invalid} of the grid is not a dictionary`
}

/** @returns a grid to send; version 3.0 unless `meta` has `ver` */
export const makeGrid = (rows: readonly Dict[], meta: Dict = {}): Grid => ({
  meta: { ver: '3.0', ...meta },
  cols: rows.length ? [...new Set(rows.flatMap(row => Object.keys(row)))] : ['empty'],
  rows: [...rows],
})

export const makeRef = (id: string): Dict => ({ _kind: 'ref', val: id })
export const makeNumber = (val: number, unit: string): Dict => ({ _kind: 'number', val, unit })
export const MARKER: Dict = { _kind: 'marker' }

/** @returns the error of an error grid; undefined for another grid. Error grids also arrive with HTTP status 200 */
export function errorOf({ meta }: Grid): string | undefined {
  if (meta.err === undefined || meta.err === null || meta.err === false) return undefined
  return textOf(meta.dis) ?? textOf(meta.errType) ?? 'the server gives no reason'
}

/** @returns the id of a reference, without `@` and display name */
export const refOf = (cell: unknown): string | undefined =>
  isDict(cell) && cell._kind === 'ref' && typeof cell.val === 'string' ? cell.val : undefined

/** @returns the display name that a server gives with a reference */
export const disOf = (cell: unknown): string | undefined => (refOf(cell) === undefined ? undefined : textOf((cell as Dict).dis))

export function numberOf(cell: unknown): HaystackNumber | undefined {
  if (typeof cell === 'number') return { value: cell, unit: undefined }
  if (!isDict(cell) || cell._kind !== 'number') return undefined
  const { val, unit } = cell
  const value = typeof val === 'number' ? val : typeof val === 'string' ? NUMBERS[val] : undefined
  return value === undefined ? undefined : { value, unit: typeof unit === 'string' && unit !== '' ? unit : undefined }
}

/** @returns the text of a cell, shortened for use in a message */
export const textOf = (cell: unknown): string | undefined => (typeof cell === 'string' && cell !== '' ? shorten(cell) : undefined)

/** @returns the kind of a cell, by the names of Project Haystack */
export function cellKind(cell: unknown): string {
  if (cell === undefined || cell === null) return 'null'
  if (typeof cell === 'number') return 'number'
  if (typeof cell === 'boolean') return 'bool'
  if (typeof cell === 'string') return 'str'
  if (Array.isArray(cell)) return 'list'
  const { _kind } = cell as Dict
  return typeof _kind === 'string' ? _kind : 'dict'
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > TEXT_MAX ? `${line.slice(0, TEXT_MAX)}…` : line
}
