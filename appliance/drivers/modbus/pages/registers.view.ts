/** The page of Modbus registers: a form, the registers as received, and their values in every format and order. */
import { type Html, html } from '#shared/node/http/html.ts'
import { listRegisters, type MatrixValue, type RegisterRow, registerMatrix } from '../core/matrix.ts'
import { type RegisterFormat, REGISTER_FORMATS, isBits, type RegisterRange, TABLES } from '../core/point.ts'
import { Problem } from '#shared/core/problem.ts'
import { type Here, momentAge } from '#shared/central/ui/moment.ts'
import type { DeviceEntry } from '../../../store/catalogue-schema.ts'
import type { RegisterRead } from './register-reader.ts'
import { say, sayCountOf, words, sayMade } from '#shared/node/http/language.ts'

export type RegistersModel = {
  devices: DeviceEntry[]
  asked: { device_id: string | undefined } & RegisterRange
  /** Register at which the shown values begin; the first one when undefined. */
  from: number | undefined
  /** The result or the problem; undefined before a request. */
  outcome: RegisterRead | Problem | undefined
  here: Here
}

const TABLE_WORDS: Record<(typeof TABLES)[number], string> = words({
  holding: 'holding registers',
  input: 'input registers',
  coil: 'coils',
  discrete: 'discrete inputs',
})
/** Bits in one list. */
const BITS_IN_LIST = 16

export const registersBody = (model: RegistersModel): Html => html`<h1>Modbus registers</h1>
<p class="lead">Reads a device now, in turn with polling, and shows the same bytes in every format and order. Nothing is written.</p>
${model.devices.length ? form(model) : html`<section class="card"><p>No enabled Modbus device is in the catalogue.</p></section>`}
${model.outcome instanceof Problem && html`<p class="notice" role="alert">${sayMade(model.outcome.message)}</p>`}
${model.outcome && !(model.outcome instanceof Problem) && results(model, model.outcome)}`

const form = ({ devices, asked }: RegistersModel): Html => html`<form class="filter" method="get" action="/modbus">
<label>Device<select name="device_id">${devices.map(
  ({ device_id, name }) =>
    html`<option value="${device_id}"${device_id === asked.device_id && html` selected`}>${name} (${device_id})</option>`,
)}</select></label>
<label>Table<select name="table">${TABLES.map(
  table => html`<option value="${table}"${table === asked.table && html` selected`}>${TABLE_WORDS[table]}</option>`,
)}</select></label>
${number('address', say`First address, from 0`, asked.address, 0)}
${number('count', say`Number of registers or bits`, asked.count, 1)}
<button class="primary">Read</button>
</form>`

const number = (name: string, label: string, value: number, least: number): Html =>
  html`<label>${label}<input type="number" name="${name}" value="${value}" min="${least}" required></label>`

function results(model: RegistersModel, read: RegisterRead): Html {
  const { device, place, parts, unreadable, at, rttMs } = read
  const missing = unreadable.reduce((sum, { count }) => sum + count, 0)
  const isOfBits = isBits(place.table)
  const what = sayCountOf(place.count - missing, isOfBits ? 'bit' : 'register')
  const said = html`<p class="age" role="status">${what} of ${device.name}, read ${momentAge(at, model.here)}, in ${Math.max(1, Math.round(rttMs))} ms</p>`
  const left = unreadable.map(
    ({ address, count, reason }) =>
      html`<p class="notice" role="alert">${TABLE_WORDS[place.table]} ${count > 1 ? say`${address} to ${address + count - 1}` : address}: ${reason}</p>`,
  )
  if (isOfBits) return html`${said}${left}${parts.map(({ address, bits }) => bitList({ ...place, address }, bits))}`
  const lists = parts.map(part => ({ part, rows: listRegisters(part.bytes, part.address) }))
  const rows = lists.flatMap(list => list.rows)
  const start = rows.find(({ address }) => address === model.from) ?? rows[0]!
  const { part } = lists.find(list => list.rows.includes(start))!
  const values = Map.groupBy(registerMatrix(part.bytes, place.table, part.address, start.address), ({ format }) => format)
  return html`${said}${left}
<section class="card"><h2>As received</h2>${registerTable(model, rows, start.address)}</section>
<section class="card" id="values"><h2>Values that begin at register ${start.address}</h2>
<p class="muted">The letters are in the order in which the bytes arrive, A the most significant. Point address of such a value: <code>${place.table}:${start.address}:FORMAT:ORDER</code></p>
${[1, 2, 4].map(
  registers =>
    html`<div class="tiles">${[...values].filter(([format]) => REGISTER_FORMATS[format] === registers).map(([format, cells]) => formatList(format, cells))}</div>`,
)}</section>`
}

const bitList = (
  { table, address }: RegisterRange,
  bits: readonly number[],
): Html => html`<section class="card"><h2>As received</h2>
<div class="tiles">${Array.from(
  { length: Math.ceil(bits.length / BITS_IN_LIST) },
  (_, i) =>
    html`<dl class="values">${bits
      .slice(BITS_IN_LIST * i, BITS_IN_LIST * (i + 1))
      .map((bit, k) => bitLine(`${table}:${address + BITS_IN_LIST * i + k}`, bit))}</dl>`,
)}</div></section>`

const bitLine = (point: string, bit: number): Html =>
  html`<div><dt><code>${point}</code></dt><dd>${bit ? say`1, on` : say`0, off`}</dd></div>`

const registerTable = (model: RegistersModel, rows: RegisterRow[], start: number): Html => html`<div class="wide"><table>
<thead><tr><th>Address</th><th>Hex</th><th>Unsigned</th><th>Bits</th></tr></thead>
<tbody>${rows.map(
  ({ address, hex, uint16, bits }) =>
    html`<tr><th scope="row">${
      address === start ? html`<strong>${address}</strong>` : html`<a href="${hrefOf(model, address)}">${address}</a>`
    }</th><td>${hex}</td><td>${uint16}</td><td>${bits}</td></tr>`,
)}</tbody></table></div>
<p class="muted">Bit 15 is first. Choose an address to see the values that begin there.</p>`

function hrefOf({ asked }: RegistersModel, from: number): string {
  const { device_id = '', table, address, count } = asked
  const query = new URLSearchParams({ device_id, table, address: `${address}`, count: `${count}`, from: `${from}` })
  return `/modbus?${query}#values`
}

/** One format in each of its orders. */
const formatList = (format: RegisterFormat, values: readonly MatrixValue[]): Html => html`<section><h3>${format}</h3>
<dl class="values">${values.map(
  ({ order, text, rounded }) => html`<div><dt><code>${order}</code></dt><dd>${text}${rounded && ' *'}</dd></div>`,
)}</dl>
${values.some(({ rounded }) => rounded) && html`<p class="muted">* has more digits than the history stores</p>`}</section>`
