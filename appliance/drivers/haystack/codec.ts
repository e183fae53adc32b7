/** Encodes and decodes grids: Zinc with the reader of haystack-core, Hayson as JSON. No other file uses haystack-core. */
import { errorText } from '#shared/core/error-text.ts'
import { HFilter, ZincReader } from 'haystack-core'
import { type Grid, takeGrid } from './core/grid.ts'
import { writeZinc } from './core/zinc.ts'

export type Format = 'zinc' | 'hayson'

/** Media types for `Accept`, and for the grid of a request. */
export const MEDIA_TYPES: Record<Format, string> = {
  zinc: 'text/zinc',
  hayson: 'application/vnd.haystack+json;version=4',
}

/** @returns the format of an answer with this content type; undefined when it holds no grid. Older servers call Zinc plain text */
export function formatOf(contentType: string): Format | undefined {
  const type = contentType.split(';')[0]!.trim().toLowerCase()
  if (type === 'text/zinc' || type === 'text/plain') return 'zinc'
  return type === 'application/json' || type === 'application/vnd.haystack+json' ? 'hayson' : undefined
}

/**
 * @param contentType of the answer. What is not UTF-8 is read in the character set that it states, but never before: some servers
 *   state the default of their web server, and send UTF-8
 * @returns the grid, or the reason why the bytes are not one
 */
export function decodeGrid(bytes: Uint8Array, format: Format, contentType = ''): Grid | string {
  const text = decodeText(bytes, 'utf-8') ?? decodeText(bytes, /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1])
  if (text === undefined) return 'the answer is not valid UTF-8'
  try {
    return takeGrid(format === 'zinc' ? readZinc(text) : JSON.parse(text))
  } catch (error) {
    return `the answer cannot be read as ${format === 'zinc' ? 'Zinc' : 'JSON'}: ${errorText(error)}`
  }
}

function decodeText(bytes: Uint8Array, charset: string | undefined): string | undefined {
  if (charset === undefined) return undefined
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function readZinc(text: string): unknown {
  // Every row ends with a line feed. Without it the last number may be truncated.
  if (!text.endsWith('\n')) throw new Error('it ends in the middle of a row')
  return ZincReader.readValue(text)?.toJSON()
}

export function encodeGrid(grid: Grid, format: Format): string {
  if (format === 'zinc') return writeZinc(grid)
  return JSON.stringify({ _kind: 'grid', ...grid, cols: grid.cols.map(name => ({ name })) })
}

/** @returns the reason why a text is not a filter; undefined when it is one */
export function checkFilter(text: string): string | undefined {
  try {
    HFilter.parse(text)
    return undefined
  } catch (error) {
    return `"${text}" is neither a reference (@…) nor a filter: ${errorText(error)}`
  }
}
