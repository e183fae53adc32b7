/** The files beside an EDE table: state texts, units and object types by their numbers. */
import { cellOf, isBlank, readWhole, type RowRefusal, type PointTable } from '../../../../core/catalogue/table.ts'

/** Numbers of state texts are counted by 32 bits; proprietary units end at 65535 and object types at 1023. */
const REFERENCE_MAX = 4_294_967_295

/** Texts by number; a unit or type has one text. */
type NumberedTexts = { texts: ReadonlyMap<number, string[]>; refused: RowRefusal[] }

/**
 * Reads `number;text;text…`. Rows that begin with `#` or with no digit before the first number are headings.
 *
 * @source EDE 2.3: State-Texts are `Reference Number;Text 1 or Inactive-Text;Text 2 or Active-Text;Text 3…`, Units
 *   `Code;Unit Text`, Object-Types `Code;Object Type`
 */
export function readNumberedTexts({ file, rows }: PointTable): NumberedTexts {
  const texts = new Map<number, string[]>()
  const refused: RowRefusal[] = []
  for (const row of rows) {
    const first = cellOf(row, 0)
    if (isBlank(row) || first.startsWith('#') || (texts.size === 0 && !/^\d/.test(first))) continue
    const number = readWhole(first, REFERENCE_MAX)
    if (typeof number === 'string') {
      refused.push({ file, line: row.line, column: 'number', message: number })
    } else if (texts.has(number)) {
      refused.push({ file, line: row.line, column: 'number', message: `${number} is already further up` })
    } else {
      texts.set(number, withoutTail(row.cells.slice(1).map((_, i) => cellOf(row, i + 1))))
    }
  }
  return { texts, refused }
}

/** Removes blank cells at the end: all rows are as wide as the longest one. */
function withoutTail(cells: string[]): string[] {
  const last = cells.findLastIndex(cell => cell !== '')
  return cells.slice(0, last + 1)
}
