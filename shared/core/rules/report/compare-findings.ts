/** What another value of a parameter changes: episodes that appear, that go, and that stay. */
import type { Finding } from '#shared/core/findings/finding.ts'

export const EPISODE_CHANGES = ['appears', 'goes', 'stays'] as const
export type EpisodeChange = (typeof EPISODE_CHANGES)[number]
export type ComparedEpisode = {
  change: EpisodeChange
  /** As it is found with the changed value; one that goes as it is found now. */
  finding: Finding
  /** Only of one that stays: its time in fault now, seconds, of all episodes that it covers. */
  before_secs?: number
}
export type ComparedEquipment = {
  equipment_id: string
  before: { episodes: number; fault_secs: number }
  after: { episodes: number; fault_secs: number }
  episodes: ComparedEpisode[]
}

/**
 * Compares what one rule finds now with what it would find. Two episodes are the same where they overlap, for a threshold
 * that moves makes them longer, shorter, fewer or more.
 *
 * @param before findings of one rule as its parameters are
 * @param after findings of it as they would be
 * @returns by equipment, in the order of their ids; episodes in time order
 */
export function compareFindings(before: Finding[], after: Finding[]): ComparedEquipment[] {
  const ids = [...new Set([...before, ...after].map(({ equipment_id }) => equipment_id))].toSorted()
  return ids.map(equipment_id => {
    const own = (findings: Finding[]) => findings.filter(finding => finding.equipment_id === equipment_id)
    const [was, is] = [own(before), own(after)]
    return { equipment_id, before: sumOf(was), after: sumOf(is), episodes: episodesOf(was, is) }
  })
}

function episodesOf(before: Finding[], after: Finding[]): ComparedEpisode[] {
  const gone = before.filter(was => !after.some(is => isSame(was, is)))
  const found = after.map((finding): ComparedEpisode => {
    const same = before.filter(was => isSame(was, finding))
    return same.length > 0 ? { change: 'stays', finding, before_secs: sumOf(same).fault_secs } : { change: 'appears', finding }
  })
  const all = [...gone.map((finding): ComparedEpisode => ({ change: 'goes', finding })), ...found]
  return all.toSorted((a, b) => a.finding.from - b.finding.from || (a.change < b.change ? -1 : 1))
}

const isSame = (a: Finding, b: Finding): boolean =>
  a.role === b.role && a.from < (b.to ?? Infinity) && b.from < (a.to ?? Infinity)

const sumOf = (findings: Finding[]) => {
  return { episodes: findings.length, fault_secs: findings.reduce((sum, { duration_secs }) => sum + duration_secs, 0) }
}

/** @returns how many episodes change so */
export const countChanges = (equipment: ComparedEquipment[], change: EpisodeChange): number =>
  equipment.reduce((sum, { episodes }) => sum + episodes.filter(one => one.change === change).length, 0)
