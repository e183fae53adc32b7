/** The page of the properties of a BACnet object: a form, and what the device says now. */
import { objectName, placeName } from '#shared/core/bacnet/object-name.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { Problem } from '#shared/core/problem.ts'
import { BACNET_PATH } from '#shared/central/ui/links.ts'
import { type Here, momentAge } from '#shared/central/ui/moment.ts'
import { say, sayCountOf, sayMade } from '#shared/node/http/language.ts'
import { propertyName, valueText } from '../core/property-names.ts'
import type { BacnetValue } from '../core/tag.ts'
import type { DeviceEntry } from '../../../store/catalogue-schema.ts'
import type { AskedProperties, PropertiesRead } from './property-reader.ts'

export type PropertiesModel = {
  devices: DeviceEntry[]
  asked: Partial<AskedProperties>
  /** The result or the problem; undefined before a request. */
  outcome: PropertiesRead | Problem | undefined
  here: Here
}

export const propertiesBody = (model: PropertiesModel): Html => html`<h1>BACnet properties</h1>
<p class="lead">Reads properties of an object now, in turn with polling, as the device has them. Nothing is written.</p>
${model.devices.length ? form(model) : html`<section class="card quiet-card"><h2>No enabled BACnet device is in the catalogue</h2><p><a href="/discover">Discover BACnet devices</a></p></section>`}
${model.outcome instanceof Problem && html`<p class="notice" role="alert">${sayMade(model.outcome.message)}</p>`}
${model.outcome && !(model.outcome instanceof Problem) && results(model.outcome, model.here)}`

const form = ({ devices, asked }: PropertiesModel): Html => html`<form class="filter" method="get" action="${BACNET_PATH}">
<label>Device<select name="device_id">${devices.map(
  ({ device_id, name }) =>
    html`<option value="${device_id}"${device_id === asked.device_id && html` selected`}>${name} (${device_id})</option>`,
)}</select></label>
<label>Object<input name="object" value="${asked.object ?? ''}" placeholder="${say`AI-3 or analog-input,3`}" required maxlength="64" autocapitalize="none" spellcheck="false"></label>
<label>Property<input name="property" value="${asked.property ?? ''}" placeholder="${say`the usual ones`}" maxlength="64" autocapitalize="none" spellcheck="false"></label>
<button class="primary">Read</button>
</form>`

const results = (read: PropertiesRead, here: Here): Html =>
  html`<p class="age" role="status">${sayCountOf(read.properties.length, 'value')} of <code>${objectName(read.object)} @ ${read.device.bacnet && placeName(read.device.bacnet)}</code> of <a href="/devices/${encodeURIComponent(read.device.device_id)}">${read.device.name}</a>, read ${momentAge(read.at, here)}, in ${Math.max(1, Math.round(read.rttMs))} ms</p>
${
  read.properties.length > 0 &&
  html`<table class="tried"><thead><tr><th scope="col">Property</th><th scope="col">Value</th></tr></thead>
<tbody>${read.properties.map(
    one => html`<tr>
<td data-label="Property"><div><code>${propertyName(one.property)}</code> <span class="muted">${one.property}</span></div></td>
<td data-label="Value"><div>${'values' in one ? valuesOf(one.property, one.values) : html`<span class="error">${one.error}</span>`}</div></td>
</tr>`,
  )}</tbody></table>`
}
${read.absent.length > 0 && html`<p class="muted">It does not have: ${read.absent.map(propertyName).join(', ')}.</p>`}`

/** An array has its values in order: a priority array those of its sixteen levels. */
function valuesOf(property: number, values: BacnetValue[]): Html {
  const [value] = values
  if (values.length === 1 && value) return html`${textOf(property, value)}`
  if (values.length === 0) return html`<span class="muted">empty</span>`
  return html`<ol class="values">${values.map(one => html`<li>${textOf(property, one)}</li>`)}</ol>`
}

const textOf = (property: number, value: BacnetValue): string =>
  value.type === 'opaque' ? say`a structure, which is not decoded` : valueText(property, value)
