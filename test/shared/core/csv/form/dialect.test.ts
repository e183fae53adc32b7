import test from 'ava'
import { sniffDialect } from '#shared/core/csv/form/dialect.ts'

for (const [head, delimiter, decimalComma] of [
  ['t,a,b\n1,2,3\n', ',', false],
  ['t;a;b\n1;2,5;3,5\n1;2,5;3\n', ';', true],
  ['t;a;b\n1;2.5;3\n', ';', false],
  ['t\ta\n1\t2\n', '\t', false],
  ['t|a|b\r\n1|2|3\r\n', '|', false],
  ['"t";"Zone, north"\n1;21,5\n1;22,5\n', ';', true],
  ['t,"a;b"\n1,2\n', ',', false],
  ['t\n1\n', ',', false],
  ['', ',', false],
  ['Zeit;Temp, Zuluft;Temp, Abluft\n20.11.2026 00:00;15,5;21,5\n20.11.2026 00:15;15,7;21,6\n', ';', true],
  ['Zeit;Druck\n20.11.2026 00:00;1.015,5\n20.11.2026 00:15;1.017,0\n', ';', true],
  ['Time,"Supply, Temp"\n2026-11-20 00:00,"15,5"\n2026-11-20 00:15,"15,7"\n', ',', true],
  ['Time,Flow\n2026-11-20 00:00,"1,250"\n2026-11-20 00:15,"1,300"\n', ',', false],
] as const) {
  test(`${JSON.stringify(head)} is written with ${JSON.stringify(delimiter)}`, t =>
    t.deepEqual(sniffDialect(head), { delimiter, decimalComma, headerLine: 1 }))
}

const ROWS = '2026-11-20 00:00;15;20\n2026-11-20 00:15;16;21\n'
for (const [what, head, headerLine] of [
  ['nothing', `Time;SAT;RAT\n${ROWS}`, 1],
  ['the separator, as Excel wants it', `sep=;\nTime;SAT;RAT\n${ROWS}`, 2],
  ['comments and a blank line', `# exported by a BMS\n# site X\n\nTime;SAT;RAT\n${ROWS}`, 4],
  ['a title as wide as the table', `Trend report;;\nBuilding 7;;\nTime;SAT;RAT\n${ROWS}`, 3],
  ['a title with as many texts', `Report;Site;X\nTime;SAT;RAT\n${ROWS}`, 2],
  ['a title with more texts', `Report;Site;X;Y;Z\nTime;SAT;RAT\n${ROWS}`, 2],
  ['nothing, and units below', `Time;SAT;RAT\n;degC;degC\n${ROWS}`, 1],
  ['nothing, and a name without a time', `Sample;SAT;RAT\nUTC;degC;degC\n${ROWS}`, 1],
  ['nothing, with blank cells behind', `Time;SAT;RAT;\n2026-11-20 00:00;15;20;\n`, 1],
  ['nothing, because there is no header', ROWS, 1],
  ['nothing, because times are in another column', 'No;Time;SAT\n1;2026-11-20 00:00;15\n2;2026-11-20 00:15;16\n', 1],
] as const) {
  test(`before its header a table has ${what}`, t => t.like(sniffDialect(head), { delimiter: ';', headerLine }))
}
