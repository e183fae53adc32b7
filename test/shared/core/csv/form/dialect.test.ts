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

for (const [what, head, timeCells] of [
  ['a date and a time of day', 'Date,Time,SAT\n10/05/2026,00:15,55\n10/05/2026,00:30,56\n', [0, 1]],
  ['a time with points under its name', 'Datum;Uhrzeit;SAT\n05.10.2026;00.15;12\n05.10.2026;00.30;12\n', [0, 1]],
  ['hours of twelve', 'Date,Hour,SAT\n5-Oct-26,12:15:00 AM,55\n5-Oct-26,12:30:00 AM,55\n', [0, 1]],
  ['a duration of each day', 'Date,Fan ran,kWh\n05/10/2026,03:15,7\n06/10/2026,04:15,8\n', undefined],
  ['a time and a number that looks like one', 'Date,SAT\n10/05/2026,12.30\n', undefined],
  ['a whole time and another one', 'Time,Set at\n10/05/2026 00:15,00:15\n', undefined],
  ['a date and a number', 'Date,Time on\n10/05/2026,15\n', undefined],
  ['one row without a time of day', 'Date,Time,SAT\n10/05/2026,00:15,55\n10/05/2026,never,56\n', undefined],
] as const) {
  test(`the time of a table of ${what} is found`, t => t.deepEqual(sniffDialect(head).timeCells, timeCells))
}

test('lines before the header that name its columns are its legend', t => {
  const head =
    '"Point_1:","AHU1.SAT","15 minutes"\n"Interval:","15"\n"Date","Time","Point_1","Point_2"\n"10/5/2026","00:15","55","7"\n'
  t.deepEqual([...(sniffDialect(head).legend ?? [])], [['Point_1', 'AHU1.SAT']])
  t.is(sniffDialect('Report,SAT\nTime,SAT\n2026-03-01 00:00,1\n').legend, undefined)
})

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
