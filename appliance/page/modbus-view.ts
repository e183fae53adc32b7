/** The page of Modbus registers: what to read, the registers as they came, and every value that they may be. */
import { type Html, html } from '#shared/core/html.ts'
import { listRegisters, type MatrixValue, type RegisterRow, registerMatrix } from '#shared/core/modbus/matrix.ts'
import { type Format, FORMATS, type Place, TABLES } from '#shared/core/modbus/point.ts'
import { Problem } from '#shared/core/problem.ts'
import { type Here, momentAge } from '#shared/core/ui/moment.ts'
import { countOf } from '#shared/core/ui/words.ts'
import type { DeviceEntry } from '../store/catalogue-schema.ts'
import type { RegisterRead } from './modbus-read.ts'

export type RegistersModel = {
  devices: DeviceEntry[]
  asked: { device_id: string | undefined } & Place
  /** Register at which the shown values begin; the first one unless it is said. */
  from: number | undefined
  /** What came, or why nothing did; undefined before anything was asked for. */
  outcome: RegisterRead | Problem | undefined
  here: Here
}

const TABLE_WORDS: Record<(typeof TABLES)[number], string> = {
  holding: 'holding registers',
  input: 'input registers',
  coil: 'coils',
  discrete: 'discrete inputs',
}
const WIDTHS = [
  [1, 'One register'],
  [2, 'Two registers'],
  [4, 'Four registers'],
] as const

export const registersBody = (model: RegistersModel): Html => html`<h1>Modbus registers</h1>
<p class="lead">Reads a device now, in turn with what is polled, and shows the same bytes in every format and order. It only reads.</p>
${model.devices.length ? form(model) : html`<section class="card"><p>No enabled Modbus device is in the catalogue.</p></section>`}
${model.outcome instanceof Problem && html`<p class="notice" role="alert">${model.outcome.message}</p>`}
${model.outcome && !(model.outcome instanceof Problem) && results(model, model.outcome)}`

const form = ({ devices, asked }: RegistersModel): Html => html`<form class="filter" method="get" action="/modbus">
<label>Device<select name="device_id">${devices.map(
  ({ device_id, name }) =>
    html`<option value="${device_id}"${device_id === asked.device_id && html` selected`}>${name} (${device_id})</option>`,
)}</select></label>
<label>Table<select name="table">${TABLES.map(
  table => html`<option value="${table}"${table === asked.table && html` selected`}>${TABLE_WORDS[table]}</option>`,
)}</select></label>
${number('address', 'First address, from 0', asked.address, 0)}
${number('count', 'How many', asked.count, 1)}
<button class="primary">Read</button>
</form>`

const number = (name: string, label: string, value: number, least: number): Html =>
  html`<label>${label}<input type="number" name="${name}" value="${value}" min="${least}" required></label>`

function results(model: RegistersModel, read: RegisterRead): Html {
  const { device, place, bytes, bits, at, rttMs } = read
  const said = html`<p class="age" role="status">${countOf(place.count, isOneBit(bits) ? 'bit' : 'register')} of ${device.name}, read ${momentAge(at, model.here)}, in ${Math.max(1, Math.round(rttMs))} ms</p>`
  if (isOneBit(bits)) return html`${said}${bitTable(place, bits)}`
  const rows = listRegisters(bytes, place.address)
  const start = rows.find(({ address }) => address === model.from) ?? rows[0]!
  const values = registerMatrix(bytes, place.table, place.address, start.address)
  return html`${said}
<section class="card"><h2>As they came</h2>${registerTable(model, rows, start.address)}</section>
<section class="card" id="values"><h2>Values that begin at register ${start.address}</h2>
<p class="muted">The letters stand as the bytes arrive, A the most significant. As a point of the catalogue: <code>${place.table}:${start.address}:FORMAT:ORDER</code></p>
${WIDTHS.map(([width, title]) =>
  widthTable(
    title,
    values.filter(({ format }) => FORMATS[format] === width),
  ),
)}</section>`
}

const isOneBit = (bits: readonly unknown[]): boolean => bits.length > 0

const bitTable = ({ table, address }: Place, bits: readonly number[]): Html => html`<section class="card"><h2>As they came</h2>
<table class="inputs"><thead><tr><th>Address</th><th>Value</th><th>As a point</th></tr></thead>
<tbody>${bits.map(
  (bit, i) => html`<tr><td data-label="Address">${address + i}</td><td data-label="Value">${bit ? '1, on' : '0, off'}</td>
<td data-label="As a point"><code>${table}:${address + i}</code></td></tr>`,
)}</tbody></table></section>`

const registerTable = (model: RegistersModel, rows: RegisterRow[], start: number): Html => html`<table class="inputs">
<thead><tr><th>Address</th><th>Hexadecimal</th><th>Unsigned</th><th>Signed</th><th>Bits 15 to 0</th><th>Values</th></tr></thead>
<tbody>${rows.map(
  ({ address, hex, uint16, int16, bits }) => html`<tr><td data-label="Address">${address}</td>
<td data-label="Hexadecimal"><code>${hex}</code></td><td data-label="Unsigned">${uint16}</td><td data-label="Signed">${int16}</td>
<td data-label="Bits 15 to 0"><code>${bits}</code></td>
<td data-label="Values">${address === start ? 'shown below' : html`<a href="${hrefOf(model, address)}">from ${address}</a>`}</td></tr>`,
)}</tbody></table>`

function hrefOf({ asked }: RegistersModel, from: number): string {
  const { device_id = '', table, address, count } = asked
  const query = new URLSearchParams({ device_id, table, address: `${address}`, count: `${count}`, from: `${from}` })
  return `/modbus?${query}#values`
}

/** One row for each order, one column for each format of the same width. */
function widthTable(title: string, values: MatrixValue[]): Html | false {
  if (!values.length) return false
  const formats = [...new Set(values.map(({ format }) => format))]
  const orders = Map.groupBy(values, ({ order }) => order)
  return html`<h3>${title}</h3>
<table class="inputs"><thead><tr><th>Order</th>${formats.map(format => html`<th>${format}</th>`)}</tr></thead>
<tbody>${[...orders].map(
    ([order, cells]) =>
      html`<tr><td data-label="Order"><code>${order}</code></td>${formats.map(format => cell(format, cells))}</tr>`,
  )}</tbody></table>`
}

function cell(format: Format, cells: readonly MatrixValue[]): Html {
  const { text, rounded } = cells.find(one => one.format === format)!
  return html`<td data-label="${format}">${text}${rounded && html` <span class="muted">rounded when kept</span>`}</td>`
}
