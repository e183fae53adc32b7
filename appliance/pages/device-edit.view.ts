/** The forms on the page of a device that correct its entry. */
import { type Html, html } from '#shared/node/http/html.ts'
import { csrfField, operatorButton, type User } from '#shared/central/ui/frame.ts'
import { UNITS } from '#shared/core/model/unit.ts'
import { driverOf, sectionOf } from '../drivers/list.ts'
import type { DeviceEntry, PointEntry } from '../store/catalogue-schema.ts'
import { say } from '#shared/node/http/language.ts'

type EditModel = {
  device: DeviceEntry
  /** Those that the page shows. */
  points: { entry: PointEntry }[]
  user: User | undefined
  csrf: string
}

export const editForms = (model: EditModel): Html => html`<section class="card" id="edit">
<h2>Correct</h2>
<details class="figures"><summary>Name and address</summary>${deviceForm(model)}</details>
<details class="figures"><summary>How it is asked</summary>${tuningForm(model)}</details>
${model.points.length > 0 && html`<details class="figures"><summary>Name, unit or period of a point</summary>${pointForm(model)}</details>`}
</section>`

function deviceForm({ device, user, csrf }: EditModel): Html {
  const driver = driverOf(device)
  const address = driver.addressField?.format(sectionOf(device, driver))
  return html`<form class="fields" method="post" action="/devices/${encodeURIComponent(device.device_id)}/edit">
${csrfField(csrf)}
<label>Name <input name="name" value="${device.name}" maxlength="200" required></label>
${address !== undefined && html`<label>Address <input name="address" value="${address}" maxlength="260" required aria-describedby="edit-address"></label><p class="muted" id="edit-address">For example ${driver.addressField!.example}</p>`}
${operatorButton(user, 'edit-why', say`Save`)}
</form>`
}

/** A slow device is given time, a small one fewer points in a request. */
const tuningForm = ({
  device: { device_id, timeout_ms, retries, concurrency, bacnet },
  user,
  csrf,
}: EditModel): Html => html`<form class="fields" method="post" action="/devices/${encodeURIComponent(device_id)}/tuning">
${csrfField(csrf)}
<p class="muted">What is left blank has the value that is shown in grey.</p>
${tuningField('timeout_ms', say`Wait for an answer, ms`, timeout_ms, '3000')}
${tuningField('retries', say`Further attempts`, retries, '2')}
${bacnet && tuningField('concurrency', say`Requests at a time`, concurrency, '1')}
${bacnet && tuningField('rpm_max', say`Most points in a request; 1 reads them one by one`, bacnet.rpm_max, say`what the device takes`)}
${operatorButton(user, 'tuning-why', say`Save how it is asked`)}
</form>`

/** Its bounds are checked with the list of devices, which names the place that is wrong. */
const tuningField = (name: string, label: string, value: number | undefined, placeholder: string): Html =>
  html`<label>${label} <input name="${name}" value="${value}" placeholder="${placeholder}" inputmode="numeric" maxlength="6"></label>`

const pointForm = ({
  device,
  points,
  user,
  csrf,
}: EditModel): Html => html`<form class="fields" method="post" action="/devices/${encodeURIComponent(device.device_id)}/point">
${csrfField(csrf)}
<p class="muted">What is left blank stays as it is. A unit says what the values are; it converts nothing.</p>
<label>Point <select name="point_id">${points.map(({ entry }) => html`<option value="${entry.point_id}">${entry.name} (${entry.unit}, every ${entry.poll_secs} s)</option>`)}</select></label>
<label>New name <input name="name" maxlength="200"></label>
<label>Unit <select name="unit"><option value="">as it is</option>${Object.keys(UNITS).map(unit => html`<option>${unit}</option>`)}</select></label>
<label>Seconds between reads <input type="number" name="poll_secs" min="1" max="86400"></label>
${operatorButton(user, 'point-why', say`Save the point`)}
</form>`
