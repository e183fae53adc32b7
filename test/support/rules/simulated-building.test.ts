import test from 'ava'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MINUTE } from '#shared/core/time.ts'
import { readSimulated } from './simulated-building.ts'

test('rows of the hour that a wall clock shows twice are left out, and the others keep their order', t => {
  const dir = mkdtempSync(join(tmpdir(), 'plenum-simulated-'))
  t.teardown(() => rmSync(dir, { recursive: true }))
  const write = (path: string, value: unknown) => writeFileSync(join(dir, path), JSON.stringify(value))
  mkdirSync(join(dir, 'B', 'AHU-1'), { recursive: true })
  write('B.truth.json', { building_id: 'B', equipment: { 'AHU-1': 'ahu' } })
  write('B/manifest.json', { timezone: 'America/Denver' })
  write('B/AHU-1/column_map.json', { equipType: 'ahu', points: { sa_t: 'SAT' }, units: { SAT: 'degC' } })
  // Six in the morning, UTC, until the clocks go back from two to one at eight.
  const clock = ['00:00', '00:30', '01:00', '01:30', '01:00', '01:30', '02:00', '02:30', '03:00']
  const rows = clock.map((time, row) => `2025-11-02 ${time}:00,${10 + row}`)
  writeFileSync(join(dir, 'B', 'AHU-1', 'history_wide.csv'), ['timestamp,SAT', ...rows].join('\n'))
  const { ts, values } = readSimulated(dir, 'B').equipment[0]!.roles['sa_t']!
  const start = Date.UTC(2025, 10, 2, 6)
  t.deepEqual(
    [...ts].map(instant => (instant - start) / MINUTE),
    [0, 30, 180, 210, 240],
  )
  t.deepEqual([...values], [10, 11, 16, 17, 18])
})
