import { parse } from 'csv-parse/sync'
import { TOLERANT_CSV } from '#shared/central/import/split-records.ts'
import type { PointTable } from '#appliance/core/catalogue/table.ts'

/** A table as the product's reader makes it of a file, at once. */
export const tableOfText = (file: string, text: string, delimiter: string): PointTable => {
  const rows: unknown = parse(text, { ...TOLERANT_CSV, delimiter })
  return { file, rows: rows as PointTable['rows'] }
}
