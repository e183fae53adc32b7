/** The counts behind the small lines of Home. */
import type { CentralContext } from '#shared/central/context.ts'
import { openFaults } from '#shared/central/pages/faults/open-counts.ts'
import { PRIORITIES } from '#shared/core/findings/finding.ts'
import type { PollStatus } from '#shared/core/poll/poll-status.ts'
import type { PriorityJournal } from '#shared/core/ports.ts'
import { isOverride, type LevelMeaning } from '#shared/core/priority/priority-levels.ts'
import type { BoardCounts } from '../services/board-history.ts'
import type { PublisherState } from '../services/publisher.ts'

type CountedParts = {
  context: Pick<CentralContext, 'findings' | 'notes' | 'clock'>
  pollStatus: () => PollStatus
  hubState: () => PublisherState
  journal: Pick<PriorityJournal, 'latest'>
  levels: () => LevelMeaning[]
}

export function boardCounts({ context, pollStatus, hubState, journal, levels }: CountedParts): () => BoardCounts {
  return () => {
    const meanings = levels()
    const open = openFaults(context, context.clock.now())
    const { enabled, devices } = pollStatus()
    const latest = [...journal.latest().values()]
    const { state, backlog } = hubState()
    return {
      faults: PRIORITIES.reduce((sum, priority) => sum + open[priority], 0),
      silent: enabled ? devices.filter(device => isSilent(device.state)).length : null,
      overrides: latest.length > 0 ? latest.filter(({ active_level }) => isOverride(active_level, meanings)).length : null,
      backlog: state === 'off' ? null : backlog,
    }
  }
}

export const isSilent = (state: string): boolean => state !== 'ok' && state !== 'disabled'
