/** Which points of a discovered device somebody wants, in words that are typed into a field. */
import { objectName } from '#shared/core/bacnet/object-name.ts'

type Filtered = { point_id: string; address: string; name: string; unit?: string | undefined }

/** Longest text: some hundred objects by name. */
export const FILTER_MAX = 2000

/**
 * @param text words apart by blanks, `temp AI-4 -spare`: a point is taken whose id, object, name or unit contains one of them, whatever
 *   its capitals, and none of those with a minus before it; with words to leave out alone, every other point is taken
 */
export function pointFilter(text: string): (point: Filtered) => boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const wanted = words.filter(word => !word.startsWith('-'))
  const left = words
    .filter(word => word.startsWith('-'))
    .map(word => word.slice(1))
    .filter(Boolean)
  return ({ point_id, address, name, unit = '' }) => {
    const shown = [point_id, objectName(address), name, unit].join('\n').toLowerCase()
    return (wanted.length === 0 || wanted.some(word => shown.includes(word))) && !left.some(word => shown.includes(word))
  }
}
