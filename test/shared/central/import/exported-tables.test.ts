/** Tables as building systems export them, in forms of their own, up to the stored values. */
import test from 'ava'
import { importer } from '../../../support/packages/importer.ts'
import { MANIFEST, zipForm, zipOf } from '../../../support/packages/packages.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral()
})
test.after.always(() => site?.close())
const { ownBuilding, preflight, execute, history } = importer(() => site)

const lines = (...all: string[]) => all.map(line => `${line}\r\n`).join('')
/** @source reports of trends and histories of Siemens Apogee, Metasys, Niagara, SkySpark, WebCTRL and Trend, written by hand */
const TABLES = [
  {
    system: 'a legend above the header, and date and time apart',
    path: 'trend.csv',
    text: lines(
      '"Key            Name:Suffix","","Trend Definitions Used"',
      '"Point_1:","AHU01.SAT","","15 minutes"',
      '"Point_2:","AHU01.MAT","","15 minutes"',
      '"Time Interval:","15 Minutes"',
      '"<>Date","Time","Point_1","Point_2"',
      '"10/5/2026","00:00:00","55.5","65.5"',
      '"10/5/2026","00:15:00","55.6","Data Loss"',
      '"10/5/2026","00:30:00","55.7","65.7"',
    ),
    column: 'AHU01.SAT',
    point_id: 'AHU-1.AHU01.SAT',
    values: [55.5, 55.6, 55.7],
  },
  {
    system: 'a path, a name and a value with its unit in each row',
    path: 'metasys.csv',
    text: lines(
      'Date / Time,Name Path Reference,Object Name,Object Value',
      ...['12:00:00', '12:15:00', '12:30:00'].flatMap((time, i) => [
        `10/5/2026 ${time} AM,HQ:NAE-01/FC-1.AHU-1.DA-T,DA-T,5${i}.5 deg F`,
        `10/5/2026 ${time} AM,HQ:NAE-01/FC-1.AHU-2.DA-T,DA-T,6${i}.5 deg F`,
      ]),
    ),
    column: 'HQ:NAE-01/FC-1.AHU-1.DA-T',
    point_id: 'AHU-1.HQ_NAE-01_FC-1.AHU-1.DA-T',
    values: [50.5, 51.5, 52.5],
  },
  {
    system: 'a status beside a value without a name',
    path: 'AHU1_SaTemp.csv',
    text: lines(
      'history:/HQ/AHU1_SaTemp',
      'Timestamp,Trend Flags,Status,Value (°F)',
      '05-Oct-26 12:00:00 AM CDT,{ },{ok},55.5',
      '05-Oct-26 12:15:00 AM CDT,{ },{ok},55.6',
    ),
    column: 'AHU1_SaTemp',
    point_id: 'AHU-1.AHU1_SaTemp',
    values: [55.5, 55.6],
  },
  {
    system: 'times with the name of their zone',
    path: 'export.csv',
    text: lines('ts,"Discharge Temp"', '2026-10-05T00:00:00-05:00 Chicago,55.5°F', '2026-10-05T00:15:00-05:00 Chicago,55.6°F'),
    column: 'Discharge Temp',
    point_id: 'AHU-1.Discharge_Temp',
    values: [55.5, 55.6],
  },
  {
    system: 'tabs',
    path: 'export.tsv',
    text: lines('epoch\tsat\t', '1791176400\t55.5\t', '1791177300\t55.6\t'),
    column: 'sat',
    point_id: 'AHU-1.sat',
    values: [55.5, 55.6],
  },
  {
    system: 'a time of day with a point',
    path: 'log.txt',
    text: lines('Date,Time,SAT', '10/05/2026,00.00,55.5', '10/05/2026,00.15,55.6'),
    column: 'SAT',
    point_id: 'AHU-1.SAT',
    values: [55.5, 55.6],
  },
]

for (const { system, path, text, column, point_id, values } of TABLES) {
  test(`a table with ${system} is imported`, async t => {
    const { building_id } = ownBuilding()
    const seen = await preflight({
      'manifest.json': JSON.stringify({ ...MANIFEST, building_id, grid_minutes: 15, date_order: 'mdy' }),
      'AHU-1/column_map.json': JSON.stringify({ equipType: 'ahu', equip: 'AHU-1', points: { sa_t: column } }),
      [`AHU-1/${path}`]: text,
    })
    t.like(seen.body, { can_execute: true, rows_rejected: 0 }, seen.text)
    t.is((await execute(seen.body.session_id)).status, 200)
    const stored = await history(building_id, point_id)
    t.deepEqual([...stored.values], values)
    t.is(stored.ts[0], Date.UTC(2026, 9, 5, 5))
    t.is(stored.ts[1]! - stored.ts[0]!, 15 * 60_000)
  })
}

test('a note beside tables is no table', async t => {
  const seen = await preflight({
    'manifest.json': JSON.stringify({ ...MANIFEST, ...ownBuilding() }),
    'AHU-1/column_map.json': JSON.stringify({ equipType: 'ahu', equip: 'AHU-1', points: { sa_t: 'SAT' } }),
    'AHU-1/history_wide.csv': lines('timestamp_utc,SAT', '2026-10-05T05:00:00Z,55.5'),
    'AHU-1/readme.txt': 'Exported by the caretaker',
  })
  t.true(seen.body.can_execute, seen.text)
  t.deepEqual(seen.body.checks.find(({ code }: { code: string }) => code === 'file_ignored').examples, ['AHU-1/readme.txt'])
})

for (const [what, bytes] of [
  ['of today', zipOf({ '[Content_Types].xml': '<Types/>', 'xl/workbook.xml': '<workbook/>' })],
  ['before 2007', Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])],
] as const) {
  test(`a workbook of Excel ${what} is refused with what to do`, async t => {
    const answer = await site.call('operator', 'POST', '/api/csv/import/preflight', zipForm(await bytes))
    t.is(answer.status, 422)
    t.is(answer.body.code, 'package_invalid')
    t.regex(answer.body.detail, /^package\.zip is an Excel workbook; save the sheet with the values as CSV/)
  })
}
