/** Operations: what ran for how long, how comfortable the rooms were, and what was in fault the longest. */
import type { FaultHours } from '#shared/core/analytics/fault-hours.ts'
import type { OperationFigures } from '#shared/core/analytics/operations.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { Building, Equipment } from '#shared/core/model/model.ts'
import { DAY } from '#shared/core/time.ts'
import { dateOf } from '#shared/core/time-zone.ts'
import { type AnalyticsHead, analyticsHead, analyticsPath, formatHours, formatShare } from './analytics-frame.ts'
import { pager, partOf } from '#shared/central/ui/pager.ts'
import { equipmentLink } from '#shared/central/ui/links.ts'
import { formatRoleValue } from '#shared/central/ui/measure.ts'
import { formatDay, type Here, moment } from '#shared/central/ui/moment.ts'
import { EQUIPMENT_WORDS } from '#shared/central/ui/equipment-words.ts'
import { say, sayCount, sayCountOf, words } from '#shared/node/http/language.ts'

export const ORDERS = ['fault_hours', 'running_hours', 'comfort_share', 'starts', 'name'] as const
export type Order = (typeof ORDERS)[number]
export const ORDER_WORDS: Record<Order, string> = words({
  fault_hours: 'hours in fault',
  running_hours: 'running hours',
  comfort_share: 'least comfort',
  starts: 'starts',
  name: 'name',
})
export type OperationsRow = Pick<Equipment, 'equipment_id' | 'name' | 'equipment_type'> &
  FaultHours & { figures: OperationFigures }
type OperationsModel = {
  head: AnalyticsHead
  here: Here
  building: Building
  from: number
  to: number
  order: Order
  page: number | undefined
  rows: OperationsRow[]
  days: { at: number; figures: OperationFigures }[]
  total: FaultHours & { figures: OperationFigures }
  /** Whether rules have looked at the building at all: else that nothing was found says nothing. */
  looked: boolean
  findingsCut: number | undefined
  /** When history was read, ms. */
  readAt: number
}

/** Equipment of one page: on a phone each is a card. */
const ROWS_SHOWN = 50

/** `VAV-2` before `VAV-10`. `localeCompare` would make one for each comparison. */
const BY_NAME = new Intl.Collator('en', { numeric: true })

/** @returns the rows in the order, what is not known last, and equal ones by name */
export function ordered(rows: readonly OperationsRow[], order: Order): OperationsRow[] {
  const key = ({ fault_hours, figures }: OperationsRow): number => {
    if (order === 'name') return 0
    if (order === 'fault_hours') return -fault_hours
    const figure = figures[order] ?? (order === 'comfort_share' ? 2 : -1)
    return order === 'comfort_share' ? figure : -figure
  }
  return rows.toSorted((a, b) => key(a) - key(b) || BY_NAME.compare(a.name, b.name))
}

export const operationsBody = (model: OperationsModel): Html => html`${analyticsHead(model.head)}
<p class="lead">${leadWords(model)}</p>
${model.findingsCut !== undefined && html`<p class="notice">Only the newest ${sayCount(model.findingsCut)} episodes are counted; choose fewer days.</p>`}
${strip(model)}
${model.rows.length > 0 ? table(model) : html`<section class="card quiet-card"><p>No equipment of this building has a point that says whether it runs, or a room. <a href="/points?${new URLSearchParams({ building: model.building.building_id })}">Give points their roles</a></p></section>`}
<p class="as-of">Hours and comfort as of ${moment(model.readAt, model.here)}; they are counted again after ten minutes. <a href="${analyticsPath('operations')}.csv?${new URLSearchParams(model.head.query)}">All equipment as CSV</a></p>
${model.rows.length > 0 && model.days.length > 0 && dayTable(model)}
${howCounted()}`

function leadWords({ rows, from, to, here, looked }: OperationsModel): string {
  const [worst] = ordered(rows, 'fault_hours')
  const span = say`${formatDay(from, here)} to ${formatDay(to - 1, here)}`
  if (!worst || worst.fault_hours === 0) {
    return looked ? say`${span}: no fault was found.` : say`${span}. Nobody has looked for faults in this building yet.`
  }
  return say`${span}: ${worst.name} was in fault the longest, for ${formatHours(worst.fault_hours)}.`
}

const strip = ({ total, building, looked }: OperationsModel): Html => html`<dl class="strip">
<div><dt>Something in fault</dt><dd>${formatHours(looked ? total.fault_hours : null)}</dd></div>
<div><dt>Running, all equipment</dt><dd>${formatHours(total.figures.running_hours)}</dd></div>
<div><dt>Rooms in comfort</dt><dd>${formatShare(total.figures.comfort_share)}</dd></div>
<div><dt>Mean room temperature</dt><dd>${roomWords(total.figures, building)}</dd></div>
</dl>`

const roomWords = ({ zone_t_mean }: OperationFigures, { unit_system }: Building): string =>
  zone_t_mean === null ? '–' : formatRoleValue('zone_t', zone_t_mean, unit_system)
const countWords = (count: number | null): string => (count === null ? '–' : sayCount(count))

/** Most days back that the page of faults takes. */
const DAYS_MAX = 366
/** The list of faults, far enough back to hold all that is counted here. */
function faultsOf({ building, from, here }: OperationsModel, equipment_id: string): string {
  const days = String(Math.min(DAYS_MAX, Math.max(1, Math.ceil((here.now - from) / DAY))))
  return `/faults?${new URLSearchParams({ building: building.building_id, equipment: equipment_id, days })}`
}

function table(model: OperationsModel): Html {
  const { order, rows, head } = model
  const column = (key: Order, words: string) => {
    const href = `${analyticsPath('operations')}?${new URLSearchParams({ ...head.query, sort: key })}`
    const direction = key === 'name' || key === 'comfort_share' ? 'ascending' : 'descending'
    return html`<th scope="col"${key === order && html` aria-sort="${direction}"`}>${key === order ? words : html`<a class="sorts" href="${href}">${words}</a><span class="said">${words}</span>`}</th>`
  }
  const part = partOf(ordered(rows, order), model.page, ROWS_SHOWN)
  const hrefOf = (page: number) =>
    `${analyticsPath('operations')}?${new URLSearchParams({ ...head.query, sort: order, page: String(page) })}`
  return html`<table class="fleet">
<caption class="hidden">Equipment, by ${ORDER_WORDS[order]}</caption>
<thead><tr>${column('name', say`Equipment`)}${column('fault_hours', say`In fault`)}${column('running_hours', say`Running`)}${column('starts', say`Starts`)}${column('comfort_share', say`In comfort`)}<th scope="col">Too warm, too cold</th><th scope="col">Room temperature</th></tr></thead>
<tbody>${part.rows.map(row => equipmentRow(row, model))}</tbody>
</table>${pager(part, hrefOf)}`
}

function equipmentRow({ figures, ...row }: OperationsRow, model: OperationsModel): Html {
  const { building, head } = model
  const economizer = `${analyticsPath('economizer')}?${new URLSearchParams({ ...head.query, equipment: row.equipment_id })}`
  const mixes = row.equipment_type === 'ahu' || row.equipment_type === 'rtu'
  return html`<tr>
<td data-label="Equipment" class="what"><div>${equipmentLink({ building_id: model.building.building_id, equipment_id: row.equipment_id }, row.name)}<span class="muted">${mixes ? html`<a href="${economizer}">economizer</a>` : EQUIPMENT_WORDS[row.equipment_type][0]}</span></div></td>
<td data-label="In fault"><div>${row.findings > 0 ? html`<a href="${faultsOf(model, row.equipment_id)}">${formatHours(row.fault_hours)}</a><span class="muted">${sayCountOf(row.findings, 'episode')}${row.open > 0 && say`, ${row.open} open`}</span>` : say`none`}</div></td>
<td data-label="Running"><div>${formatHours(figures.running_hours)}${figures.running_hours !== null && html`<span class="muted">of ${formatHours(figures.known_hours)} known</span>`}</div></td>
<td data-label="Starts"><div>${countWords(figures.starts)}</div></td>
<td data-label="In comfort"><div>${formatShare(figures.comfort_share)}${figures.comfort_share !== null && html`<span class="muted">of ${formatHours(figures.comfort_known_hours)}</span>`}</div></td>
<td data-label="Warm, cold"><div>${figures.comfort_share === null ? '–' : `${formatHours(figures.too_warm_hours)}, ${formatHours(figures.too_cold_hours)}`}</div></td>
<td data-label="Room"><div>${roomWords(figures, building)}</div></td>
</tr>`
}

const dayTable = ({
  days,
  building,
  here,
}: OperationsModel): Html => html`<section class="card"><details class="figures"><summary>Day by day</summary>
<div class="wide" role="region" aria-label="Figures by day" tabindex="0"><table>
<thead><tr><th scope="col">Day</th><th scope="col">Running</th><th scope="col">Starts</th><th scope="col">In comfort</th><th scope="col">Too warm</th><th scope="col">Too cold</th><th scope="col">Room temperature</th></tr></thead>
<tbody>${days.map(
  ({ at, figures }) =>
    html`<tr><th scope="row"><time datetime="${dateOf(at, here.timezone)}">${formatDay(at, here)}</time></th><td>${formatHours(figures.running_hours)}</td><td>${countWords(figures.starts)}</td><td>${formatShare(figures.comfort_share)}</td><td>${formatHours(figures.too_warm_hours)}</td><td>${formatHours(figures.too_cold_hours)}</td><td>${roomWords(figures, building)}</td></tr>`,
)}</tbody></table></div></details></section>`

const howCounted = (): Html => html`<section class="card"><h2>How this is counted</h2>
<p>In fault: time in which the condition of at least one finding was true, without those about sensors, data and overrides, those that another explains, and those marked as no fault. Comfort: while people are there, else while the fan runs, within the room’s set points and 1.1 K (2.0 °F) beyond, else from 20 to 24.4 °C (68 to 76 °F). Hours and starts of several rooms or machines are added up, so a day may have more than 24 hours of them. Time of which nothing is known counts for nothing.</p></section>`
