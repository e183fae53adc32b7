import { CellRecord } from '#shared/core/csv/record.ts'
import test from 'ava'
import { createRowReader, type TablePlan } from '#shared/core/csv/row-reader.ts'
import { MINUTE } from '#shared/core/time.ts'

const T = Date.UTC(2026, 2, 1)

const planOf = (columns: number): TablePlan => ({
  path: 'history.csv',
  encoding: 'utf-8',
  delimiter: ',',
  decimalComma: false,
  order: undefined,
  ambiguous: false,
  timezone: undefined,
  latest: T * 2,
  width: columns + 1,
  columns: Array.from({ length: columns }, (_, i) => ({
    index: i + 1,
    point_id: `p${i}`,
    scale: 1,
    offset: 0,
    states: undefined,
  })),
})

/** @returns after how many rows the first block comes, and how many samples it holds */
function firstBlock(columns: number): { rows: number; samples: number } {
  const reader = createRowReader(planOf(columns))
  const cells = ['', ...Array.from({ length: columns }, (_, i) => String(i))]
  for (let rows = 1; rows <= 50_000; rows++) {
    const block = reader.row(T + rows * MINUTE, new CellRecord(cells, rows + 2))
    if (block.length > 0) return { rows, samples: block.reduce((sum, { series }) => sum + series.ts.length, 0) }
  }
  return { rows: Infinity, samples: 0 }
}

for (const [columns, rows] of [
  [1, 20_000],
  [25, 20_000],
  [26, 19_230],
  [1000, 500],
  [5000, 100],
] as const) {
  test(`a table of ${columns} columns comes in blocks of ${rows} rows: no block holds more than half a million samples`, t => {
    t.deepEqual(firstBlock(columns), { rows, samples: rows * columns })
  })
}
