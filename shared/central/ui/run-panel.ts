/** The runs of the rules as a page shows them: how far they are, how the newest one ended, and the buttons for both. */
import { type Html, html } from '#shared/node/http/html.ts'
import type { RunProgress, RunState } from '#shared/core/runs/run-state.ts'
import { csrfField, operatorButton, type User } from './frame.ts'
import { type Here, moment, momentAge } from './moment.ts'
import { say, sayCountOf, words } from '#shared/node/http/language.ts'

/** The part refreshes itself this often. */
const RUNS_REFRESH_SECS = 5

export type ShownRun = { run: RunState; progress?: RunProgress }
export type RunPanel = {
  /** Runs that wait or are under way, in the order of their turns. */
  live: ShownRun[]
  /** How the newest run ended; null before the first. */
  newest: RunState | null
  /** The building that the page is about; undefined: all of them. */
  building_id: string | undefined
  /** Whether there is a building over which rules run here. */
  runsHere: boolean
  nameOf: (building_id: string) => string
  here: Here
  user: User | undefined
  csrf: string
}

/** The part that htmx asks for again. */
export function runPanel(panel: RunPanel): Html {
  const { live, building_id, newest, here } = panel
  const query = building_id === undefined ? '' : `?building=${encodeURIComponent(building_id)}`
  return html`<section id="runs" class="card runs" aria-labelledby="runs-title" hx-get="/faults/runs${query}" hx-trigger="every ${RUNS_REFRESH_SECS}s, refresh" hx-target="#runs" hx-swap="outerMorph" data-refresh-secs="${RUNS_REFRESH_SECS}">
<h2 id="runs-title">Looking for faults</h2>
${live.map(one => liveRun(one, panel, '/faults'))}
${live.length === 0 && html`${newest && html`<p>${endOf(newest, here)}</p>`}${askForm(panel)}`}
<p class="feed" role="status"></p>
</section>`
}

/** One run under way: how far it is, and the button that ends it. @param back where the button leads back to */
export const liveRun = (
  one: ShownRun,
  { nameOf, here, user, csrf }: LiveModel,
  back: '/' | '/faults',
): Html => html`<div class="run">
<p><strong>${nameOf(one.run.building_id)}</strong>: ${wordsOf(one, here)}</p>
${one.progress && one.progress.equipment_total > 0 && html`<progress aria-label="Equipment looked at" value="${one.progress.equipment_done}" max="${one.progress.equipment_total}"></progress>`}
<form method="post" action="/runs/${encodeURIComponent(one.run.run_id)}/cancel">${csrfField(csrf)}<input type="hidden" name="back" value="${back}">${operatorButton(user, `why-${one.run.run_id}`, say`Cancel`)}</form>
</div>`
type LiveModel = Pick<RunPanel, 'nameOf' | 'here' | 'user' | 'csrf'>

const STEP_WORDS: Record<RunProgress['step'], string> = words({
  rules: 'reading the rules',
  history: 'reading history',
  evaluation: 'looking at equipment',
})

function wordsOf({ run, progress }: ShownRun, here: Here): Html {
  if (run.started_at === null) return html`waits for its turn since ${momentAge(run.asked_at, here)}`
  const since = html`runs since ${momentAge(run.started_at, here)}`
  if (!progress) return since
  const { step, equipment_done, equipment_total, rules } = progress
  const far = equipment_total > 0 && html`, ${equipment_done} of ${equipment_total} done with ${sayCountOf(rules, 'rule')}`
  return html`${since}: ${STEP_WORDS[step]}${far}`
}

function endOf({ state, finished_at, reason }: RunState, here: Here): Html {
  const when = finished_at !== null && html` ${momentAge(finished_at, here)}`
  if (state === 'failed') return html`<strong>The newest run failed</strong>${when}: ${reason}`
  if (state === 'cancelled') return html`The newest run was ${reason}${when}; it stored nothing.`
  return html`The newest run finished${finished_at !== null && html` ${moment(finished_at, here)}`}. <a href="">Show what it found</a>`
}

function askForm({ building_id, runsHere, user, csrf }: RunPanel): Html {
  if (!runsHere) return html`<p>Its own box looks for faults and sends them; no rules run here.</p>`
  return html`<form method="post" action="/runs">${csrfField(csrf)}${building_id !== undefined && html`<input type="hidden" name="building" value="${building_id}">`}${operatorButton(user, 'runs-why', say`Run now`)}</form>`
}
