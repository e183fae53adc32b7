/** `node scripts/score-names.ts DIR`: suggestions for packages whose column maps name the right roles. */
import test from 'ava'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MANIFEST = { schema_version: 'svc_package_v1', building_id: 'b1', grid_minutes: 5, timezone: 'UTC' }

test('what is suggested is counted against the column map, which the suggester does not see', t => {
  const dir = mkdtempSync(join(tmpdir(), 'plenum-score-names-'))
  t.teardown(() => rmSync(dir, { recursive: true }))
  mkdirSync(join(dir, 'one', 'AHU-1'), { recursive: true })
  writeFileSync(join(dir, 'one', 'manifest.json'), JSON.stringify(MANIFEST))
  const points = { sa_t: 'DA-T', ma_t: 'RA-T', oa_t: 'Xyzzy', fan_status: 'SF-S' }
  const units = { 'DA-T': 'degF', 'RA-T': 'degF', Xyzzy: 'degF' }
  writeFileSync(join(dir, 'one', 'AHU-1', 'column_map.json'), JSON.stringify({ equipType: 'ahu', equip: 'AHU-1', points, units }))
  const rows = ['2026-03-01T00:00:00Z,55,70,40,1', '2026-03-01T00:05:00Z,56,71,41,0']
  writeFileSync(join(dir, 'one', 'AHU-1', 'history_wide.csv'), ['timestamp_utc,DA-T,RA-T,Xyzzy,SF-S', ...rows, ''].join('\n'))
  const text = execFileSync(process.execPath, ['scripts/score-names.ts', dir, '--list'], { encoding: 'utf8' })
  for (const when of ['before import', 'after import'])
    t.regex(text, new RegExp(`${when}: 4 points, 3 suggested \\(75.0 %\\), 2 right; 3 sure, 2 right \\(66.7 %\\)`))
  t.regex(text, /ahu RA-T: ra_t [\d.]+, is ma_t/)
  t.regex(text, /ahu Xyzzy: nothing 0, is oa_t/)
})
