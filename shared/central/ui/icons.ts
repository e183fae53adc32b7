/** Status icons: every state has a shape, a letter or number, and a word beside it; colour is never the only sign. */
import { nameTable } from '#shared/core/name-table.ts'
import { type Finding, type FindingNote, type Priority, PRIORITY_WORDS } from '#shared/core/findings/finding.ts'
import { type Html, html, raw } from '#shared/node/http/html.ts'
import { say, words } from '#shared/node/http/language.ts'

/** States of a point or device. `down` is a communication failure; `fault` is configuration or reported by the device. */
export const STATES = ['fault', 'down', 'stale', 'unknown', 'disabled', 'ok'] as const
export type State = (typeof STATES)[number]

/** Shapes in a box of 20 × 20. Text inside a filled shape is cut out in the colour of the surface. */
const SHAPES = nameTable<string>({
  p1: '<rect x="1.5" y="1.5" width="17" height="17"/><text x="10" y="14.5">1</text>',
  p2: '<path d="M10 0.5 19.8 19H.2Z"/><text x="10" y="17">2</text>',
  p3: '<circle cx="10" cy="10" r="9"/><text x="10" y="14.5">3</text>',
  ok: '<circle cx="10" cy="10" r="4.5" class="hollow"/>',
  stale: '<rect x="2.5" y="2.5" width="15" height="15" class="hollow"/><path class="line" d="M3 10 10 3M3 17 17 3M10 17l7-7"/>',
  down: '<path class="line bold" d="M4 4l12 12M16 4 4 16"/>',
  fault: '<path d="M6 1h8l5 5v8l-5 5H6l-5-5V6Z"/><text x="10" y="15">!</text>',
  disabled: '<circle cx="10" cy="10" r="7.5" class="hollow"/><path class="line" d="M4.5 15.5l11-11"/>',
  override: '<path d="M10 .2 19.8 10 10 19.8.2 10Z"/><text x="10" y="14.5">H</text>',
  unknown: '<circle cx="10" cy="10" r="8" class="hollow dashed"/><text x="10" y="14.5" class="own">?</text>',
  // A fault: a flag while it is active, hollow with a tick once it is acknowledged; lowered when it went before anybody saw it.
  'active-unacked': '<path class="line" d="M4 1v18"/><path d="M4 2h14l-4 4.5 4 4.5H4Z"/>',
  'active-acked': '<path class="line" d="M4 1v18M4 2.5h13l-3.5 4 3.5 4H4"/><path class="line" d="M8 16l3 2.5 6-6"/>',
  'cleared-unacked': '<path class="line" d="M4 1v18M4 10h13l-3.5 4 3.5 4H4"/>',
  'cleared-acked': '<path class="line bold" d="M3 11l5 5L17 5"/>',
})

/** The four states of a fault, in the order in which they need a person. */
const FAULT_STATES = ['active-unacked', 'active-acked', 'cleared-unacked', 'cleared-acked'] as const
type FaultState = (typeof FAULT_STATES)[number]
const FAULT_STATE_WORDS: Record<FaultState, string> = words({
  'active-unacked': 'active, not acknowledged',
  'active-acked': 'active, acknowledged',
  'cleared-unacked': 'cleared, not acknowledged',
  'cleared-acked': 'cleared, acknowledged',
})

const faultState = ({ state }: Pick<Finding, 'state'>, { ack }: Pick<FindingNote, 'ack'>): FaultState => `${state}-${ack}`

/** The sign of a fault's state beside text that says the state: `⚑ ` */
export const faultStateSign = (finding: Pick<Finding, 'state'>, note: Pick<FindingNote, 'ack'>): Html =>
  shape(faultState(finding, note))

/** The state in words, for those who do not see the sign. */
export const faultStateWords = (finding: Pick<Finding, 'state'>, note: Pick<FindingNote, 'ack'>): string =>
  FAULT_STATE_WORDS[faultState(finding, note)]

/** What the four signs mean, below a list that has them. */
export const faultStateLegend = (): Html =>
  html`<ul class="plain legend" aria-label="${say`What the signs mean`}">${FAULT_STATES.map(
    state => html`<li><span class="marked">${shape(state)}<span>${FAULT_STATE_WORDS[state]}</span></span></li>`,
  )}</ul>`

/** The shape alone; the word that it stands for is always next to it. */
const shape = (name: string): Html =>
  html`<svg class="mark ${name}" viewBox="0 0 20 20" aria-hidden="true" focusable="false">${raw(SHAPES[name] ?? '')}</svg>`

/** `■1 high` */
export const priorityIcon = (priority: Priority): Html =>
  html`<span class="marked">${shape(`p${priority}`)}<span>${say(PRIORITY_WORDS[priority])}</span></span>`

/** `✕ down` */
export const stateIcon = (state: State, words: string = say(state)): Html =>
  html`<span class="marked state-${state}">${shape(state)}<span>${words}</span></span>`

/** An override of a point: `◆H P8` */
export const overrideIcon = (words: string): Html =>
  html`<span class="marked override">${shape('override')}<span>${words}</span></span>`
