/** The preview of an import: points that would be added, rows that are refused, and addresses that are missing. */
import type { RowRefusal } from '../core/catalogue/table.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { csrfField, operatorButton, type User } from '#shared/central/ui/frame.ts'
import type { ImportPlan, PlannedDevice } from '../store/catalogue-import.ts'
import { say, sayCountOf, words, sayMade } from '#shared/node/http/language.ts'

export type ImportModel = {
  path: string
  plan: ImportPlan
  counts: {
    devices_new: number
    devices_known: number
    devices_without_address: number
    points_added: number
    points_known: number
  }
  refused: RowRefusal[]
  notes: RowRefusal[]
  others: Record<string, number>
  /** Addresses that the user has entered, by device instance. */
  typed: ReadonlyMap<string, string>
  /** Why the import failed; undefined when it did not. */
  fault: string | undefined
  done: boolean
  /** How a device address is written; undefined when the format needs none. */
  addressExample: string | undefined
  user: User | undefined
  csrf: string
}

/** Lines of a list that are shown; the rest are counted. */
const LINES_MAX = 100
/** Points of a device that are shown. */
const POINTS_MAX = 20

export const importBody = (model: ImportModel): Html => html`<p class="crumbs"><a href="/devices">Devices</a></p>
<h1>${model.done ? say`Imported` : say`Preview of the import`}</h1>
<p class="lead">${summary(model)}</p>
${model.fault !== undefined && html`<p class="notice" role="alert"><strong>Not imported.</strong> ${sayMade(model.fault)}</p>`}
${refusals(say`Refused rows`, model.refused)}
<form method="post" action="${model.path}">
${csrfField(model.csrf)}
${model.plan.devices.map(device => deviceCard(device, model))}
${!model.done && applyButton(model)}
</form>
${refusals(say`Ignored cells`, model.notes)}
${notes(model.plan.notes)}
${others(model.others)}
${model.done && html`<p><a href="/devices">Back to the devices</a></p>`}`

function summary(model: ImportModel): string {
  const { counts, refused } = model
  const { devices_without_address: silent, points_known } = counts
  const known = sayCountOf(points_known, 'point')
  const without = sayCountOf(silent, 'device')
  const parts = [
    addedText(model),
    ...(points_known ? [points_known === 1 ? say`${known} is there already` : say`${known} are there already`] : []),
    ...(silent ? [silent === 1 ? say`${without} has no address` : say`${without} have no address`] : []),
    ...(refused.length ? [say`${sayCountOf(refused.length, 'place')} refused`] : []),
  ]
  const text = parts.join('; ')
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`
}

function addedText({ counts: { devices_new, devices_known, points_added }, done }: ImportModel): string {
  if (points_added === 0) return done ? say`nothing was added` : say`nothing would be added`
  const points = sayCountOf(points_added, 'point')
  const added = sayCountOf(devices_new, 'new device')
  const known = say`${sayCountOf(devices_known, 'device')} of the list`
  const to = devices_known === 0 ? added : devices_new === 0 ? known : say`${added} and ${known}`
  return done ? say`${points} were added to ${to}` : say`${points} would be added to ${to}`
}

const STATE_WORDS: Record<PlannedDevice['state'], string> = words({
  new: 'new',
  known: 'already in the list',
  no_address: 'left out until it has an address',
})

function deviceCard(device: PlannedDevice, model: ImportModel): Html {
  const { name, device_id, device_instance, state, where, points, points_known } = device
  const field = `address_${device_instance}`
  const needsAddress = !model.done && device_instance !== undefined && state !== 'known'
  const shown = points.slice(0, POINTS_MAX)
  return html`<section class="card">
<h2>${name} <span class="muted">${device_instance !== undefined && say`device ${device_instance}, `}id ${device_id}</span></h2>
<p>${model.done && state === 'no_address' ? say`was left out: it has no address` : STATE_WORDS[state]}${where !== null && html`, at <span class="address">${where}</span>`}; ${sayCountOf(points.length, 'point')} ${model.done && state !== 'no_address' ? say`added` : say`to add`}${points_known > 0 && say`, ${points_known} there already`}</p>
${
  needsAddress &&
  html`<label class="fields">Address of device ${device_instance} <input name="${field}" value="${model.typed.get(String(device_instance)) ?? where ?? ''}" maxlength="80" placeholder="10.0.0.5" aria-describedby="address-form"></label>`
}
${
  shown.length > 0 &&
  html`<details class="figures"><summary>${points.length > shown.length ? say`The first ${shown.length} points` : say`Points`}</summary>
<div class="wide" tabindex="0" role="region" aria-label="Points of ${name}"><table><thead><tr><th scope="col">Id</th><th scope="col">Name</th><th scope="col">Address</th><th scope="col">Unit</th></tr></thead>
<tbody>${shown.map(point => html`<tr><td>${point.point_id}</td><td>${point.name}</td><td>${point.address}</td><td>${point.unit}</td></tr>`)}</tbody></table></div></details>`
}
</section>`
}

function applyButton({ user, plan, addressExample }: ImportModel): Html {
  const asks = plan.devices.some(({ state, device_instance }) => state !== 'known' && device_instance !== undefined)
  return html`${asks && html`<p class="muted" id="address-form">An address is written ${addressExample}. A device without one is left out; <a href="/discover">Discover</a> finds addresses.</p>`}
<p>${operatorButton(user, 'apply-why', say`Import`, 'primary')}</p>`
}

function refusals(title: string, list: readonly RowRefusal[]): Html | false {
  if (list.length === 0) return false
  const shown = list.slice(0, LINES_MAX)
  return html`<section class="card"><h2>${title} <span class="count">${list.length}</span></h2>
<table class="fleet"><thead><tr><th scope="col">File</th><th scope="col">Line</th><th scope="col">Column</th><th scope="col">What is wrong</th></tr></thead>
<tbody>${shown.map(
    ({ file, line, column, message }) =>
      html`<tr><td data-label="File" class="address"><div>${file}</div></td><td data-label="Line"><div>${line}</div></td><td data-label="Column"><div>${column}</div></td><td data-label="Wrong" class="address"><div>${sayMade(message)}</div></td></tr>`,
  )}</tbody></table>
${list.length > shown.length && html`<p class="muted">and ${list.length - shown.length} more</p>`}</section>`
}

function notes(list: readonly string[]): Html | false {
  if (list.length === 0) return false
  return html`<section class="card"><details class="figures"><summary>Points without a supported unit&nbsp;<span class="count">${list.length}</span></summary>
<p class="muted">These points are kept as plain numbers; set their unit later on the page of the device.</p>
<ul>${list.slice(0, LINES_MAX).map(note => html`<li>${note}</li>`)}</ul>${list.length > LINES_MAX && html`<p>and ${list.length - LINES_MAX} more</p>`}</details></section>`
}

function others(counts: Record<string, number>): Html | false {
  const kinds = Object.entries(counts)
  if (kinds.length === 0) return false
  return html`<p class="muted">Left out, because they have no value to poll: ${kinds.map(([kind, n]) => `${n} × ${kind}`).join(', ')}.</p>`
}
