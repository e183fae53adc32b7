/** The page Updates: the roll-out box by box, what became of each box's last update, and a form for the next. */
import { csrfField } from '#shared/central/ui/frame.ts'
import { type State, stateIcon } from '#shared/central/ui/icons.ts'
import { listSearch, pager, partOf, SEARCHED_FROM } from '#shared/central/ui/pager.ts'
import { edgeName } from '#shared/core/model/model.ts'
import { hasWords, searchWords } from '#shared/core/search/search-index.ts'
import { type Here, momentAge } from '#shared/central/ui/moment.ts'
import { logEnd } from '#shared/central/system/update-log.ts'
import type { BoxReport, Rollout, RolloutBox } from '#shared/core/update/rollout.ts'
import type { UpdateState } from '#shared/core/update/update-wire.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { say, words, sayMade } from '#shared/node/http/language.ts'

type UpdatesModel = {
  here: Here
  csrf: string
  isAdmin: boolean
  rollout: Rollout | undefined
  /** Boxes that run on a system of ours. */
  boxes: BoxReport[]
  /** Words of the listed boxes, and which part of them is shown. */
  q: string
  page: number | undefined
}

/** Boxes on one page: thousands would be a page of a megabyte. */
const BOXES_SHOWN = 50

export const updatesBody = (model: UpdatesModel): Html => html`<h1>Updates</h1>
${model.rollout ? rolloutSection(model.rollout, model) : html`<p class="lead">No update has been rolled out from this hub.</p>`}
${boxesSection(model)}
${model.isAdmin && formSection(model)}`

const ROLLOUT_WORDS: Readonly<{ [S in Rollout['state']]: string }> = words({
  running: 'is being rolled out',
  stopped: 'has stopped',
  finished: 'runs on every box of its kind',
})

function rolloutSection(rollout: Rollout, { here, csrf, isAdmin }: UpdatesModel): Html {
  const { version, compatible, state, reason, boxes, started_at, started_by } = rollout
  const done = boxes.filter(box => box.state === 'done').length
  return html`<p class="lead">Version <code>${version}</code> ${ROLLOUT_WORDS[state]}: ${done} of ${boxes.length} ${boxes.length === 1 ? say`box` : say`boxes`} done.</p>
<section class="card"><h2>Roll-out</h2>
${state === 'stopped' && html`<p>${stateIcon('down', say`Stopped`)} ${reasonWords(reason)}</p>`}
<p>For boxes of kind <code>${compatible}</code>, begun by ${started_by} ${momentAge(started_at, here)}. First one box, then ten, then the rest; it stops by itself when a box refuses the update, goes back, or does not come back healthy. A box that is not connected gets it when it is.</p>
${isAdmin && state === 'running' && html`<form method="post" action="/updates/stop">${csrfField(csrf)}<button>Stop</button></form>`}
${isAdmin && state === 'stopped' && html`<form method="post" action="/updates/resume">${csrfField(csrf)}<button>Go on; try failed boxes again</button></form>`}
</section>`
}

const BOX_WORDS: Readonly<{ [S in RolloutBox['state']]: [State, string] }> = words(
  {
    waiting: ['unknown', 'Waits'],
    sending: ['stale', 'Being sent'],
    installing: ['stale', 'Installs and is watched'],
    done: ['ok', 'Done'],
    failed: ['down', 'Failed'],
  },
  '1',
)

/** What needs somebody first. A box outside the roll-out is listed last. */
const ORDER: readonly (RolloutBox['state'] | undefined)[] = ['failed', 'installing', 'sending', 'waiting', 'done', undefined]

function boxesSection({ rollout, boxes, q, page, here }: UpdatesModel): Html {
  if (boxes.length === 0)
    return html`<section class="card quiet-card"><h2>No box has said that it runs on Plenum's own system image.</h2></section>`
  const parts = new Map(rollout?.boxes.map(box => [edgeName(box), box]))
  const found = boxes
    .filter(({ site_id, edge_id, version, system }) => hasWords(searchWords(edge_id, site_id, version, system?.compatible), q))
    .map(box => ({ box, part: parts.get(edgeName(box)) }))
    .toSorted((a, b) => ORDER.indexOf(a.part?.state) - ORDER.indexOf(b.part?.state))
  const shown = partOf(found, page, BOXES_SHOWN)
  const hrefOf = (one: number) => `/updates?${new URLSearchParams({ ...(q !== '' && { q }), page: String(one) })}`
  return html`<section class="card"><h2>Boxes</h2>
${(boxes.length > SEARCHED_FROM || q !== '') && listSearch({ path: '/updates', state: {}, q, label: say`Box, site or version contains` })}
${
  found.length === 0
    ? html`<p>${say`No box contains “${q}”.`}</p>`
    : html`<table class="tried"><thead><tr><th scope="col">Box</th><th scope="col">Version</th><th scope="col">This roll-out</th><th scope="col">Last update</th></tr></thead>
<tbody>${shown.rows.map(({ box, part }) => boxRow(box, part, here))}</tbody></table>`
}${pager(shown, hrefOf)}</section>`
}

const boxRow = (
  { site_id, edge_id, version, online, system }: BoxReport,
  part: RolloutBox | undefined,
  here: Here,
): Html => html`<tr>
<td data-label="Box"><div><strong>${edge_id}</strong> <span class="muted">site ${site_id}, ${system?.compatible}${!online && say`, not connected`}</span></div></td>
<td data-label="Version"><div><code>${version}</code></div></td>
<td data-label="This roll-out"><div>${part ? partWords(part, here) : '–'}</div></td>
<td data-label="Last update"><div>${system?.last ? lastWords(system.last, here) : say`none`}</div></td></tr>`

/** Box, what became of it, and why, each behind a colon; a box tells why in its own words. */
const reasonWords = (reason: string): string => reason.split(': ').map(sayMade).join(': ')

function partWords({ state, since, reason }: RolloutBox, here: Here): Html {
  const [mark, words] = BOX_WORDS[state]
  return html`${stateIcon(mark, words)} <span class="muted">${momentAge(since, here)}${reason !== '' && `: ${reasonWords(reason)}`}</span>`
}

const LAST_WORDS: Readonly<{ [S in UpdateState['state']]: string }> = words({
  installing: 'is being installed',
  installed: 'is installed and starts',
  trying: 'has started and is watched',
  confirmed: 'works and stays',
  refused: 'was refused',
  failed: 'could not be installed',
  rolled_back: 'was left; the version before is back',
})

const lastWords = ({ state, version, reason, at, log }: UpdateState, here: Here): Html =>
  html`${version === '' ? say`The file` : html`<code>${version}</code>`} ${LAST_WORDS[state]} ${momentAge(Date.parse(at), here)}${reason !== '' && html`<br><span class="muted">${sayMade(reason)}</span>`}${logEnd(log)}`

const formSection = ({ csrf, rollout }: UpdatesModel): Html => html`<section class="card"><h2>Roll out an update</h2>
${
  rollout?.state === 'running'
    ? html`<p>Stop the roll-out that goes on before you begin another.</p>`
    : html`<p>Choose the file of an update (<code>.raucb</code>). Each box checks its signature, and refuses a version older than its own.</p>
<form class="fields" method="post" action="/updates" enctype="multipart/form-data">${csrfField(csrf)}
<label>Update <input type="file" name="file" accept=".raucb" required></label>
<button>Roll out</button></form>`
}</section>`
