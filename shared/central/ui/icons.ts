/** Status icons: every state has a shape, a letter or number, and a word beside it; colour is never the only sign. */
import { nameTable } from '#shared/core/name-table.ts'
import { type Priority, PRIORITY_WORDS } from '#shared/core/findings/finding.ts'
import { type Html, html, raw } from '#shared/node/http/html.ts'
import { say } from '#shared/node/http/language.ts'

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
})

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
