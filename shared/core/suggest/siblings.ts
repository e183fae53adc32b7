/** What a name means beside the other names of the same equipment: `OA_DMPR` beside `OA_DMPR_DM` is the position. */
import { DRIVEN } from './context.ts'
import type { Reading } from './words.ts'

/** Tags that say already whether the point is told or measured. */
const DIRECTED = ['cmd', 'sensor', 'sp', 'run', 'position']

/**
 * @param readings the names of one equipment
 * @returns them in the same order, with the tags that follow from another name
 */
export function readTogether(readings: readonly Reading[]): Reading[] {
  const all = readings.map(({ tags }) => new Set(tags))
  const hasSibling = (tags: readonly string[], ...more: string[]) => {
    const wanted = new Set([...tags, ...more])
    return all.some(other => other.size === wanted.size && [...wanted].every(tag => other.has(tag)))
  }
  return readings.map(reading => {
    const { tags } = reading
    const isOpen = DRIVEN.some(tag => tags.includes(tag)) && !DIRECTED.some(tag => tags.includes(tag))
    if (isOpen && hasSibling(tags, 'cmd')) return { ...reading, tags: [...tags, 'position', 'sensor'] }
    // `SP` is a static pressure where another name is its set point: `SA_SP` and `SA_SPSPT`.
    if (tags.includes('sp') && !tags.includes('pressure') && hasSibling(tags, 'pressure')) {
      return { ...reading, tags: [...tags.filter(tag => tag !== 'sp'), 'pressure', 'sensor'] }
    }
    // A flow that is told beside the same flow is the set point of its controller.
    const told = tags.filter(tag => tag !== 'cmd')
    const isFlow = tags.includes('flow') && told.length < tags.length
    return isFlow && hasSibling(told) ? { ...reading, tags: [...told, 'sp'] } : reading
  })
}
