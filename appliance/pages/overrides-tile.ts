/** What Home says of overrides: how many there are, since when the oldest, and why nobody looks where nobody does. */
import type { PriorityJournal } from '#shared/core/ports.ts'
import { isOverride, levelMeanings } from '#shared/core/priority/priority-levels.ts'
import type { VisitSchedule } from '#shared/core/priority/visit.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { type Here, momentAge, momentOr } from '#shared/central/ui/moment.ts'
import { countOf } from '#shared/core/number-text.ts'
import type { Site } from '../store/site.ts'
import type { OverridesBook } from './command-states.ts'

export type OverridesTile = {
  /** Points with a visit, those of them that are held, and those that are out of service, as of their newest visits. */
  seen: number
  held: number
  outOfService: number
  /** The first visit that saw the oldest override; undefined while the history is being read. `before`: it was so at the first visit. */
  oldest: { since: number; before: boolean } | undefined
  last_visit_at: number | null
  /** That nobody looks, and why; undefined while somebody does. */
  off: string | undefined
  /** Why history is not kept. */
  damage: string | undefined
}

export type OverridesSources = {
  journal: Pick<PriorityJournal, 'latest' | 'state'>
  schedule: Pick<VisitSchedule, 'state'>
  book: OverridesBook
  site: Pick<Site, 'priority_levels'>
}

export function overridesSummary({ journal, schedule, book, site }: OverridesSources): () => OverridesTile {
  const meanings = levelMeanings(site.priority_levels)
  return () => {
    const latest = [...journal.latest().values()]
    const held = latest.filter(({ active_level }) => isOverride(active_level, meanings))
    const courses = held.length > 0 ? book.known() : []
    const first = courses
      ?.filter(course => isOverride(course.latest.active_level, meanings))
      .toSorted((a, b) => a.held_since - b.held_since)[0]
    const { journal: health, reason } = journal.state()
    const { enabled, reason: why, last_completed_at } = schedule.state()
    return {
      seen: latest.length,
      held: held.length,
      outOfService: latest.filter(({ out_of_service }) => out_of_service === true).length,
      oldest: first && { since: first.held_since, before: first.otherwise_at === null },
      last_visit_at: last_completed_at,
      off: why && `${enabled ? 'No visits are made' : 'The priority scanner is off'}: ${why}`,
      damage: health === 'disabled' ? (reason ?? 'no reason is known') : undefined,
    }
  }
}

/** @returns the body of the tile */
export function overridesWords(
  { seen, held, outOfService, oldest, last_visit_at, off, damage }: OverridesTile,
  here: Here,
): Html {
  const figure =
    seen === 0 ? (off === undefined ? 'Not looked yet' : 'Nobody looks') : held === 0 ? 'None' : countOf(held, 'override')
  return html`<p class="figure"><a href="/overrides">${figure}</a></p>
${damage !== undefined && html`<p class="error"><strong>The priority history is not kept:</strong> ${damage}</p>`}
${held > 0 && html`<p>${oldest ? html`The oldest is seen since ${momentAge(oldest.since, here)}${oldest.before && ', and was there at the first visit'}` : 'How old they are is being read.'}</p>`}
${seen > 0 && held === 0 && html`<p>Nobody holds one of ${countOf(seen, 'point')}.</p>`}
${outOfService > 0 && html`<p>${countOf(outOfService, 'point')} out of service</p>`}
${off !== undefined && damage === undefined && html`<p>${off}.</p>`}
<p class="age">Last visit ended ${momentOr(last_visit_at, here, 'never')}</p>`
}
