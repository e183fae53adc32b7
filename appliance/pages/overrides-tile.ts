/** The line of Home about overrides: their number, those of more than a day, and why no visits are made. */
import type { PriorityJournal } from '#shared/core/ports.ts'
import { isOverride, type LevelMeaning } from '#shared/core/priority/priority-levels.ts'
import type { VisitSchedule } from '#shared/core/priority/visit.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { DAY } from '#shared/core/time.ts'
import { type Here, momentAge, momentOr } from '#shared/central/ui/moment.ts'
import type { CommandStates } from './command-states.ts'
import { say, sayCountOf } from '#shared/node/http/language.ts'

export type OverridesTile = {
  /** Points that have been visited; those that are overridden and those out of service, as of their newest visits. */
  seen: number
  held: number
  /** Of them, those that have lasted for more than a day; undefined while the history is being read. */
  aged: number | undefined
  outOfService: number
  /**
   * The first visit that saw the oldest override; undefined while the history is being read. `before`: the override was
   * present at the first visit already.
   */
  oldest: { since: number; before: boolean } | undefined
  last_visit_at: number | null
  /** Why no visits are made; undefined while they are. */
  off: string | undefined
  /** Why the priority history is not recorded. */
  damage: string | undefined
}

type OverridesSources = {
  journal: Pick<PriorityJournal, 'latest' | 'state'>
  schedule: Pick<VisitSchedule, 'state'>
  commandStates: CommandStates
  levels: () => LevelMeaning[]
}

/** @returns what Home shows at an instant */
export function overridesSummary({ journal, schedule, commandStates, levels }: OverridesSources): (now: number) => OverridesTile {
  return now => {
    const meanings = levels()
    const latest = [...journal.latest().values()]
    const held = latest.filter(({ active_level }) => isOverride(active_level, meanings))
    const commands = held.length > 0 ? commandStates.cached() : []
    const overridden = commands
      ?.filter(command => isOverride(command.latest.active_level, meanings))
      .toSorted((a, b) => a.held_since - b.held_since)
    const first = overridden?.[0]
    const { journal: health, reason } = journal.state()
    const { enabled, reason: why, last_completed_at } = schedule.state()
    return {
      seen: latest.length,
      held: held.length,
      aged: overridden?.filter(({ held_since }) => now - held_since > DAY).length,
      outOfService: latest.filter(({ out_of_service }) => out_of_service === true).length,
      oldest: first && { since: first.held_since, before: first.otherwise_at === null },
      last_visit_at: last_completed_at,
      off: why && `${enabled ? say`No visits are made` : say`The priority scanner is off`}: ${why}`,
      damage: health === 'disabled' ? (reason ?? say`no reason is known`) : undefined,
    }
  }
}

/** @returns the words of the line */
export function overridesWords(
  { seen, held, aged, outOfService, oldest, last_visit_at, off, damage }: OverridesTile,
  here: Here,
): Html {
  const unseen = off === undefined ? say`Not visited yet` : say`No visits`
  const figure = seen === 0 ? unseen : held === 0 ? say`None` : sayCountOf(held, 'override')
  return html`<p class="figure"><a href="/overrides">${figure}</a></p>
${damage !== undefined && html`<p class="error"><strong>The priority history is not recorded:</strong> ${damage}</p>`}
${aged !== undefined && aged > 0 && html`<p><a href="/overrides?older=1"><strong>${aged} older than a day</strong></a></p>`}
${held > 0 && html`<p>${oldest ? html`Oldest since ${momentAge(oldest.since, here)}${oldest.before && say`, present at the first visit`}` : say`Reading the history to find their age.`}</p>`}
${seen > 0 && held === 0 && html`<p>No override at ${sayCountOf(seen, 'point')}.</p>`}
${outOfService > 0 && html`<p>${sayCountOf(outOfService, 'point')} out of service</p>`}
${off !== undefined && damage === undefined && html`<p>${off}.</p>`}
<p class="age">Last visit ended ${momentOr(last_visit_at, here, say`never`)}</p>`
}
