/** Grids as bytes: Zinc through the package's reader, Hayson as JSON. The one file that knows the package. */
import { errorText } from '#shared/core/error-text.ts'
import { HFilter, ZincReader } from 'haystack-core'
import { type Grid, takeGrid } from './core/grid.ts'
import { writeZinc } from './core/zinc.ts'

export type Format = 'zinc' | 'hayson'

/** What is asked for in `Accept`, and what a request's own grid is sent as. */
export const MEDIA_TYPES: Record<Format, string> = {
  zinc: 'text/zinc',
  hayson: 'application/vnd.haystack+json;version=4',
}

/** @returns the format of an answer of this type; undefined when it can be none. Older servers call Zinc plain text */
export function formatOf(contentType: string): Format | undefined {
  const type = contentType.split(';')[0]!.trim().toLowerCase()
  if (type === 'text/zinc' || type === 'text/plain') return 'zinc'
  return type === 'application/json' || type === 'application/vnd.haystack+json' ? 'hayson' : undefined
}

/** @returns the grid, or in words why the bytes are none */
export function decodeGrid(bytes: Uint8Array, format: Format): Grid | string {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return 'the answer is no UTF-8'
  }
  try {
    return takeGrid(format === 'zinc' ? readZinc(text) : JSON.parse(text))
  } catch (error) {
    return `the answer cannot be read as ${format === 'zinc' ? 'Zinc' : 'JSON'}: ${errorText(error)}`
  }
}

function readZinc(text: string): unknown {
  // Every row ends with a line feed. Without it the last number may have lost digits.
  if (!text.endsWith('\n')) throw new Error('it breaks off within a row')
  return ZincReader.readValue(text)?.toJSON()
}

export function encodeGrid(grid: Grid, format: Format): string {
  if (format === 'zinc') return writeZinc(grid)
  return JSON.stringify({ _kind: 'grid', ...grid, cols: grid.cols.map(name => ({ name })) })
}

/** @returns in words why a text is no filter; undefined when it is one */
export function checkFilter(text: string): string | undefined {
  try {
    HFilter.parse(text)
    return undefined
  } catch (error) {
    return `"${text}" is neither a reference (@…) nor a filter: ${errorText(error)}`
  }
}
