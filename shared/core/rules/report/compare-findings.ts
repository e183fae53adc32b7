/** The effect of another parameter value: episodes that appear, that go, and that stay. */
import type { Finding } from '#shared/core/findings/finding.ts'

export const EPISODE_CHANGES = ['appears', 'goes', 'stays'] as const
export type EpisodeChange = (typeof EPISODE_CHANGES)[number]
export type ComparedEpisode = {
  change: EpisodeChange
  /** The finding with the changed value; for an episode that goes, the current one. */
  finding: Finding
  /** Only for an episode that stays: the current time in fault of all episodes that it overlaps, seconds. */
  before_secs?: number
}
export type ComparedEquipment = {
  equipment_id: string
  before: { episodes: number; fault_secs: number }
  after: { episodes: number; fault_secs: number }
  episodes: ComparedEpisode[]
}

/**
 * Compares the findings of a rule with those under other parameters. Two episodes are the same where they overlap, because a
 * moved threshold makes episodes longer, shorter, fewer or more.
 *
 * @param before findings of one rule with its current parameters
 * @param after its findings with the changed ones
 * @returns by equipment, ordered by id; episodes in time order
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

/** @returns the number of episodes with that change */
export const countChanges = (equipment: ComparedEquipment[], change: EpisodeChange): number =>
  equipment.reduce((sum, { episodes }) => sum + episodes.filter(one => one.change === change).length, 0)
