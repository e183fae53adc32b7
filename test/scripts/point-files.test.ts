import test, { type ExecutionContext } from 'ava'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { readPointFiles, unpackInto } from '#scripts/lib/point-files.ts'
import { COMMON_NAMES, equipmentOf, readPointMap, roleOfPoint } from '#scripts/lib/point-names.ts'

function folder(t: ExecutionContext, files: Record<string, string>): string {
  const dir = mkdtempSync(join(tmpdir(), 'plenum-points-test-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), content)
  }
  return dir
}

const NAMES: [string, string, string, string | undefined][] = [
  ['VAV-3_SUPFLOW', 'VAV-3', 'vav', 'zone_flow'],
  ['VAV-10-SUPFLOSP', 'VAV-10', 'vav', 'zone_flow_sp'],
  ['VAV-10-0CC-O', 'VAV-10', 'vav', 'occ'],
  ['VAV-7_RAD-O', 'VAV-7', 'vav', undefined],
  ['S-7_DA-T', 'S-7', 'ahu', 'sa_t'],
  ['S_7_PH-O', 'S-7', 'ahu', 'preheat_valve'],
  ['AHU 2_CLG-O', 'AHU-2', 'ahu', 'clg_valve'],
]
for (const [name, equipment_id, type, role] of NAMES) {
  test(`${name} is ${role ?? 'a point without a role'} of ${equipment_id}`, t => {
    const found = equipmentOf(name, COMMON_NAMES)!
    t.like(found, { equipment_id, equipment_type: type })
    t.is(roleOfPoint(found.point, found.equipment_type, COMMON_NAMES)?.role, role)
  })
}

const FLOW = 'Timestamp,Value (cfm)\n07-May-22 12:40:00 PM CDT,550\n07-May-22 12:45:00 PM CDT,551\n'
const STATUS = 'Timestamp,Value\n02-Mar-22 12:00:43 PM CST,On\n06-Jun-22 7:00:01 AM CDT,Off\n'
const STATIC = 'Date,duct_static\n5/17/2022 12:00,1\n'

test('files become equipment with tables; units come from headers, else from the name; states become 0 and 1', t => {
  const dir = folder(t, { 'vav/VAV-3-SUPFLOW.csv': FLOW, 'ahu/S-7_SF-S.csv': STATUS, 'ahu/DA-P.csv': STATIC })
  const { equipment, files, rows, zones, orders } = readPointFiles([dir], COMMON_NAMES)
  t.is(files, 3)
  t.is(rows, 5)
  t.deepEqual([...zones], ['CST', 'CDT'])
  t.deepEqual([...orders], ['mdy'])
  const [handler, box] = equipment.toSorted((a, b) => a.equipment_id.localeCompare(b.equipment_id))
  t.deepEqual(handler!.points, { duct_static: 'DA-P', fan_status: 'SF-S' })
  t.deepEqual(handler!.units, { 'DA-P': 'inwc' })
  t.is(
    handler!.tables.find(({ name }) => name === 'SF-S.csv')!.text,
    'timestamp,SF-S\n02-Mar-22 12:00:43 PM CST,1\n06-Jun-22 7:00:01 AM CDT,0',
  )
  t.deepEqual(box!.units, { SUPFLOW: 'cfm' })
})

test("a file that names no equipment belongs to its folder's only one; between two it has no home", t => {
  const dir = folder(t, {
    'one/S-7_SF-S.csv': STATUS,
    'one/DA-P.csv': STATIC,
    'two/VAV-1_DPR-O.csv': FLOW,
    'two/VAV-2_DPR-O.csv': FLOW,
    'two/X.csv': FLOW,
  })
  const { equipment, homeless } = readPointFiles([dir], COMMON_NAMES)
  t.deepEqual(homeless, ['X.csv'])
  t.true('duct_static' in equipment.find(({ equipment_id }) => equipment_id === 'S-7')!.points)
})

test('a file with a header alone is told and left out', t => {
  const dir = folder(t, { 'S-7_FBD-SP.csv': 'Timestamp,Value\n', 'S-7_DA-T.csv': 'Times,Value (°F)\n5/7/2022 12:00,72.4\n' })
  const { empty, equipment } = readPointFiles([dir], COMMON_NAMES)
  t.deepEqual(empty, ['S-7_FBD-SP.csv'])
  t.is(equipment[0]!.tables.length, 1)
})

test('archives are unpacked beside the folder', t => {
  const dir = folder(t, { 'in/VAV-3-SUPFLOW.csv': FLOW })
  execFileSync('tar', ['-czf', join(dir, 'export.tar.gz'), '-C', join(dir, 'in'), '.'])
  rmSync(join(dir, 'in'), { recursive: true })
  const { dirs, temporary } = unpackInto(dir)
  t.teardown(() => temporary.forEach(path => rmSync(path, { recursive: true, force: true })))
  t.is(temporary.length, 1)
  t.true(existsSync(temporary[0]!))
  t.is(readPointFiles(dirs, COMMON_NAMES).rows, 2)
})

test('a map file is checked, and says which entry is wrong', t => {
  const maps = {
    'good.json': {
      equipment: [{ pattern: '^(FC\\d+)-', equipment_type: 'fcu' }],
      points: [{ of: 'fcu', pattern: '^T$', role: 'zone_t' }],
    },
    'type.json': { equipment: [{ pattern: '^(FC\\d+)-', equipment_type: 'toaster' }], points: [] },
    'role.json': { equipment: [], points: [{ of: 'fcu', pattern: '^T$', role: 'warmth' }] },
    'pattern.json': { equipment: [{ pattern: '((', equipment_type: 'fcu' }], points: [] },
    'list.json': { equipment: [] },
  }
  const dir = folder(t, Object.fromEntries(Object.entries(maps).map(([name, map]) => [name, JSON.stringify(map)])))
  t.is(equipmentOf('FC12-T', readPointMap(join(dir, 'good.json')))?.equipment_id, 'FC12')
  t.throws(() => readPointMap(join(dir, 'type.json')), { message: /toaster is no equipment type/ })
  t.throws(() => readPointMap(join(dir, 'role.json')), { message: /warmth is no role/ })
  t.throws(() => readPointMap(join(dir, 'pattern.json')), { message: /is no regular expression/ })
  t.throws(() => readPointMap(join(dir, 'list.json')), { message: /needs the lists/ })
})
