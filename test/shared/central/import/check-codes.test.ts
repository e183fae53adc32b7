/** Checks of a preflight that say what is left out: each with the file, column or texts that it is about. */
import test from 'ava'
import { checkOf, importer } from '../../../support/packages/importer.ts'
import { airHandler, table } from '../../../support/packages/packages.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral()
})
test.after.always(() => site?.close())
const { preflight, ownBuilding } = importer(() => site)

const COLUMNS = 'timestamp_utc,SAT,OAT,Fan,Note'
const rowsWith = (cells: (i: number) => string) =>
  Array.from({ length: 40 }, (_, i) => `${new Date(Date.UTC(2026, 2, 1, 6) + i * 300_000).toISOString()},${cells(i)}`)

for (const { title, code, severity = 'warning', cells, files = {}, example } of [
  {
    title: 'a mapped column without a value is named by its header',
    code: 'column_empty',
    cells: () => '60,,1,',
    example: /^OAT$/,
  },
  {
    title: 'a column with more than 32 texts is left out, and one of them is shown',
    code: 'states_too_many',
    cells: (i: number) => `60,40,1,note ${i}`,
    example: /note \d+/,
  },
  {
    title: 'a file that no import reads is named by its path',
    code: 'file_ignored',
    severity: 'info',
    cells: () => '60,40,1,',
    files: { 'AHU-1/readme.pdf': 'not a table' },
    example: /^AHU-1\/readme\.pdf$/,
  },
] as {
  title: string
  code: string
  severity?: string
  cells: (i: number) => string
  files?: Record<string, string>
  example: RegExp
}[]) {
  test(title, async t => {
    const csv = table(rowsWith(cells), COLUMNS)
    const { body } = await preflight({ ...airHandler(csv, { manifest: ownBuilding() }), ...files })
    const check = checkOf(body.checks, code)
    t.is(check?.severity, severity)
    t.is(check?.count, 1)
    t.regex(check?.examples.join(' ') ?? '', example)
    const others = await preflight(
      airHandler(
        table(
          rowsWith(() => '60,40,1,'),
          COLUMNS,
        ),
        { manifest: ownBuilding() },
      ),
    )
    t.is(checkOf(others.body.checks, code), undefined)
  })
}
