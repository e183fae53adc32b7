/** A simple drawing of an equipment: its parts in the direction of flow, each with its symbol and the values at it. */
import type { EquipmentType } from '#shared/core/model/model.ts'
import { type Html, html, raw } from '#shared/node/http/html.ts'
import { say } from '#shared/node/http/language.ts'
import { roleWords } from './measure.ts'
import { wrapWords } from './plot-trace.ts'
import { EQUIPMENT_PARTS, type EquipmentPart, type PartSymbol } from './equipment-parts.ts'

/** A value in words. `quiet`: it is stale or there is none. */
export type DrawnValue = { role: string; href: string; words: string; quiet: boolean; overridden: boolean }
type DrawingSize = { width: number; columns: number }
export const DRAWING_WIDE: DrawingSize = { width: 960, columns: 8 }
export const DRAWING_NARROW: DrawingSize = { width: 356, columns: 3 }

/** Symbols in a box of 48 × 48. */
const SYMBOLS: Record<PartSymbol, string> = {
  damper: '<rect x="6" y="6" width="36" height="36"/><path d="M12 36 36 12M12 22 22 12M26 36 36 26"/>',
  return: '<path d="M42 14H14V34H42M20 28l-6 6 6 6"/>',
  wheel: '<circle cx="24" cy="24" r="18"/><path d="M24 6V42M6 24H42"/>',
  mix: '<path d="M6 12H18L30 24H42M6 36H18L30 24M36 18l6 6-6 6"/>',
  filter: '<rect x="16" y="6" width="16" height="36"/><path d="M16 14l16-4M16 24l16-4M16 34l16-4"/>',
  heat: '<rect x="10" y="6" width="28" height="36"/><path d="M10 42 38 6M17 14h8M21 10v8"/>',
  cool: '<rect x="10" y="6" width="28" height="36"/><path d="M10 42 38 6M17 14h8"/>',
  fan: '<circle cx="24" cy="24" r="18"/><path d="M14 9 42 24 14 39"/>',
  air: '<path d="M6 24H42M32 14l10 10-10 10"/>',
  room: '<path d="M6 22 24 8l18 14M10 20V42H38V20"/>',
  pump: '<circle cx="24" cy="24" r="18"/><path d="M24 6 42 24 24 42"/>',
  machine: '<rect x="6" y="8" width="36" height="14" rx="7"/><rect x="6" y="26" width="36" height="14" rx="7"/>',
  flame: '<rect x="8" y="6" width="32" height="36" rx="4"/><path d="M24 13c8 8 8 12 8 16a8 8 0 0 1-16 0c0-4 4-6 8-16Z"/>',
  tower: '<path d="M10 42 16 8H32L38 42ZM14 20H34M12 31H36"/>',
  pipe: '<path d="M6 18H42M6 30H42M32 12l8 6-8 6M16 24l-8 6 8 6"/>',
  meter: '<circle cx="24" cy="24" r="18"/><path d="M24 28 34 14M14 34h20"/>',
  weather: '<circle cx="24" cy="24" r="9"/><path d="M24 6v5M24 37v5M6 24h5M37 24h5M11 11l4 4M33 33l4 4M37 11l-4 4M15 33l-4 4"/>',
}

const TITLE = 16
const SYMBOL = 48
/** A value, and the gap after it; with one line of its role it is high enough to hit. */
const LINE = 22
const ROLE_LINE = 12
const BETWEEN = 16
/** Width of a character of 13 px and of 11 px. */
const CHARACTER = 7.6
const ROLE_CHARACTER = 6.4
/** The same of small letters alone, as in one long word. */
const LETTER = 5.8

/** @param values by role; @returns undefined where the equipment has none of the roles that a drawing of its kind shows */
export function equipmentDrawing(
  type: EquipmentType,
  values: ReadonlyMap<string, DrawnValue>,
  { width, columns }: DrawingSize,
  label: string,
): Html | undefined {
  const parts = EQUIPMENT_PARTS[type].filter(({ roles }) => roles.some(role => values.has(role)))
  if (parts.length === 0) return undefined
  // Rows as even as they can be: a part that is alone in the last one looks as if it were of something else.
  const count = Math.ceil(parts.length / columns)
  const rowFrom = (i: number) => Math.ceil((i * parts.length) / count)
  const across = rowFrom(1)
  const cell = width / (count > 1 ? across : Math.max(across, Math.min(columns, 4)))
  const rows = Array.from({ length: count }, (_, i) => parts.slice(rowFrom(i), rowFrom(i + 1)))
  const heights = rows.map(row => TITLE + SYMBOL + Math.max(...row.map(one => heightOf(shown(one, values), cell))) + BETWEEN)
  const drawn = rows.map((row, i) => {
    const top = heights.slice(0, i).reduce((sum, height) => sum + height, 0)
    return row.map((one, column) => drawPart(one, values, { x: column * cell, top, cell, isLast: one === parts.at(-1) }))
  })
  const height = heights.reduce((sum, one) => sum + one, 0)
  return html`<svg class="drawing" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="group" aria-label="${label}">${drawn}</svg>`
}

const shown = ({ roles }: EquipmentPart, values: ReadonlyMap<string, DrawnValue>): DrawnValue[] =>
  roles.flatMap(role => values.get(role) ?? [])

/** Lines of the role in words within the width of a column. */
const roleLines = ({ role }: DrawnValue, cell: number): string[] =>
  wrapWords(roleWords(role), Math.floor((cell - 8) / ROLE_CHARACTER))
const heightOf = (some: DrawnValue[], cell: number): number =>
  some.reduce((sum, value) => sum + roleLines(value, cell).length * ROLE_LINE + LINE, 0)

type Cell = { x: number; top: number; cell: number; isLast: boolean }

function drawPart(part: EquipmentPart, values: ReadonlyMap<string, DrawnValue>, { x, top, cell, isLast }: Cell): Html {
  const middle = x + cell / 2
  const centre = top + TITLE + SYMBOL / 2
  const [left, right] = [middle - SYMBOL / 2, middle + SYMBOL / 2]
  return html`<path class="flow" d="M${x} ${centre}H${left}${!isLast && html`M${right} ${centre}H${x + cell}`}"/>
<text class="part" x="${middle}" y="${top + 11}" text-anchor="middle">${part.name}</text>
<g class="symbol" transform="translate(${left} ${top + TITLE})">${raw(SYMBOLS[part.symbol])}</g>
${shown(part, values).map((value, i, all) => drawValue(value, middle, top + TITLE + SYMBOL + heightOf(all.slice(0, i), cell), cell))}`
}

/** The role in small letters, in words, and its value below; a pointer shows its code too. */
function drawValue(value: DrawnValue, middle: number, top: number, cell: number): Html {
  const { role, href, words, quiet, overridden } = value
  const text = `${overridden ? '◆ ' : ''}${words}`
  const lines = roleLines(value, cell)
  const width = cell - 4
  const half = Math.min(width, Math.max(...lines.map(line => line.length * ROLE_CHARACTER), text.length * CHARACTER) + 8) / 2
  const kind = `${quiet ? ' quiet' : ''}${overridden ? ' overridden' : ''}`
  const bottom = top + lines.length * ROLE_LINE
  return html`<a class="at${kind}" href="${href}"><title>${roleWords(role)} ${words} (${role}${overridden && `, ${say`overridden`}`})</title><rect x="${middle - half}" y="${top}" width="${half * 2}" height="${lines.length * ROLE_LINE + LINE - 2}" rx="3"/>${lines.map(
    (line, i) =>
      html`<text class="role${line.length * LETTER > width && ' long'}" x="${middle}" y="${top + (i + 1) * ROLE_LINE}" text-anchor="middle">${line}</text> `,
  )}<text x="${middle}" y="${bottom + 14}" text-anchor="middle">${text}</text></a>`
}
