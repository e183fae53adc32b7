import test from 'ava'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { openHistorian } from '#shared/node/historian/historian.ts'
import { loadRules } from '#shared/node/rules/rule-files.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { modelStore } from '#shared/node/store/model.ts'
import { paramSettingStore } from '#shared/node/store/param-settings.ts'
import { ruleStateStore } from '#shared/node/store/rule-states.ts'
import { main } from '#scripts/rules.ts'
import { START, yamlOf } from '../../../support/rules/helpers.ts'

const CASE = '\ntests:\n  - name: warm\n    step: 5m\n    sa_t: 30x6\n    faults: [00:00-]\n'

function folder(t: { teardown(fn: () => void): void }, files: Record<string, string>): string {
  const dir = mkdtempSync(join(tmpdir(), 'plenum-rules-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(dir, name, '..'), { recursive: true })
    writeFileSync(join(dir, name), text)
  }
  return dir
}

async function command(...args: string[]): Promise<{ code: number; lines: string[] }> {
  const lines: string[] = []
  return { code: await main(args, line => lines.push(line)), lines }
}

test('rules are read from folders within folders, the later folder wins', t => {
  const shipped = folder(t, { 'ahu/a.yaml': yamlOf({ id: 'A' }), 'b.yml': yamlOf({ id: 'B' }), 'notes.txt': 'no rule' })
  const own = folder(t, { 'a.yaml': yamlOf({ id: 'A', title: 'mine' }) })
  const { rules, errors } = loadRules([shipped, own, join(own, 'nowhere')])
  t.deepEqual(errors, [])
  t.deepEqual(
    rules.map(({ id, title }) => [id, title]),
    [
      ['A', 'mine'],
      ['B', 'A rule'],
    ],
  )
})

test('a file that does not check is named with its place, the others are loaded', t => {
  const dir = folder(t, {
    'a.yaml': yamlOf({ id: 'A' }),
    'b.yaml': yamlOf({ id: 'B', when: 'sa_t >' }),
    'c.yaml': yamlOf({ id: 'A' }),
  })
  const { rules, errors } = loadRules([dir])
  t.deepEqual(
    rules.map(({ filename }) => filename),
    [join(dir, 'a.yaml')],
  )
  t.deepEqual(
    errors.map(({ filename, line }) => [filename, line]),
    [
      [join(dir, 'b.yaml'), 5],
      [join(dir, 'c.yaml'), 1],
    ],
  )
})

test('a file that cannot be read is named, and the others are loaded', t => {
  const dir = folder(t, { 'a.yaml': yamlOf({ id: 'A' }), 'deep/b.yaml': yamlOf({ id: 'B' }) })
  for (const name of ['loop.yaml', 'deep/loop.yml', 'loop']) symlinkSync(basename(name), join(dir, name))
  symlinkSync('nowhere', join(dir, 'dangling.yaml'))
  const { rules, errors } = loadRules([dir])
  t.deepEqual(
    rules.map(({ id }) => id),
    ['A', 'B'],
  )
  t.deepEqual(
    errors.map(({ filename }) => filename),
    [join(dir, 'deep/loop.yml'), join(dir, 'loop.yaml')],
  )
  for (const { message } of errors) t.regex(message, /^cannot be read: ELOOP/)
})

test('a rule that changed is seen at the next load', t => {
  const dir = folder(t, { 'a.yaml': yamlOf({ id: 'A' }) })
  const first = loadRules([dir]).rules[0]!
  writeFileSync(join(dir, 'a.yaml'), yamlOf({ id: 'A', severity: '1' }))
  const second = loadRules([dir]).rules[0]!
  t.deepEqual([first.severity, second.severity], [3, 1])
  t.not(first.sha256, second.sha256)
})

test('check names mistakes, rules without tests and rings', async t => {
  const sources = '{ 20: "engineering judgement: no room is cooled with warmer air" }'
  const good = folder(t, { 'a.yaml': yamlOf({ id: 'A', sources }) + CASE })
  t.deepEqual(await command('check', good), { code: 0, lines: ['1 rules checked'] })
  const bad = folder(t, {
    'a.yaml': yamlOf({ id: 'A', suppresses: '[B]', sources }) + CASE,
    'b.yaml': yamlOf({ id: 'B', suppresses: '[A]', sources }),
    'c.yaml': yamlOf({ id: 'C', when: 'sa_t + 5 Pa > 3' }),
  })
  const { code, lines } = await command('check', bad)
  t.is(code, 1)
  t.deepEqual(
    lines.map(line => line.replace(`${bad}/`, '')),
    [
      'c.yaml:5:14: cannot add a pressure to a temperature',
      'A silences B silences A: a ring',
      'b.yaml:1:1: the rule has no tests',
      '2 rules checked',
    ],
  )
})

test('test runs the tests of a folder, a file or an id, and fails with their place', async t => {
  const dir = folder(t, { 'a.yaml': yamlOf({ id: 'A' }) + CASE, 'b.yaml': yamlOf({ id: 'B' }) + CASE.replace('30x6', '10x6') })
  const { code, lines } = await command('test', dir)
  t.is(code, 1)
  t.is(lines[0], `${dir}/b.yaml:9: B "warm": faults [00:00-] expected, [] found (pass)`)
  t.is(lines.at(-1), '2 rules: 1 tests passed, 1 failed')
  t.is((await command('test', dir, 'A')).code, 0)
  t.is((await command('test', join(dir, 'a.yaml'))).code, 0)
  t.deepEqual(await command('test', dir, 'NONE'), { code: 1, lines: ['NONE: no such rule', '0 rules: 0 tests passed, 0 failed'] })
})

test('explain tells a rule in words; a command that is none is refused', async t => {
  const dir = folder(t, { 'a.yaml': yamlOf({ id: 'A' }) + CASE })
  const { code, lines } = await command('explain', 'A', dir)
  t.is(code, 0)
  t.true(lines[0]!.includes('Fault when: sa_t > 20.'))
  t.is((await command('frobnicate')).code, 64)
  t.is((await command('--help')).code, 0)
})

test('scripts/rules is a command of its own', t => {
  const dir = folder(t, { 'a.yaml': yamlOf({ id: 'A' }) + CASE })
  t.is(execFileSync('scripts/rules', ['test', dir], { encoding: 'utf8' }), '1 rules: 1 tests passed, 0 failed\n')
})

test('backtest tells what rules would have said of CSV files, also with another parameter', async t => {
  const rule = yamlOf({
    id: 'A',
    params: '{ limit: { default: 20, min: 0, max: 40, unit: degC } }',
    when: 'sa_t > limit',
    clear: '10m',
  })
  const dir = folder(t, { 'rules/a.yaml': rule + CASE })
  const minutes = Array.from(
    { length: 180 },
    (_, i) => `2026-03-02 0${Math.floor(i / 60)}:${String(i % 60).padStart(2, '0')},${i < 90 ? 80 : 60}`,
  )
  mkdirSync(join(dir, 'data'))
  writeFileSync(join(dir, 'data', 'AHU-7.csv'), ['Datetime,AHU: Supply Air Temperature', ...minutes].join('\n'))
  const run = (...more: string[]) => command('backtest', join(dir, 'rules'), '--data', join(dir, 'data'), '--days', '1', ...more)
  t.deepEqual(await run('--param', 'limit=30'), {
    code: 0,
    lines: [
      'AHU-7, 2026-03-01 to 2026-03-02',
      'AHU-7  A  1 episodes, 1.5 h in fault  ->  pass (100 % evaluated)',
      '  goes  2026-03-02 00:00  1.5 h  A rule',
    ],
  })
  const elsewhere = await run('--param', 'limit=30', '--scope', 'type=vav')
  t.deepEqual(elsewhere, { code: 64, lines: ['--scope type=vav: there is none; there are ahu'] })
  const other = await run('--param', 'limit=30', '--scope', 'equipment=AHU-8')
  t.deepEqual(other, { code: 64, lines: ['--scope equipment=AHU-8: there is none; there are AHU-7'] })
  for (const days of ['0', 'week', '1e9'])
    t.deepEqual(await run('--days', days), { code: 64, lines: [`--days ${days}: it takes a number above 0, at most 732`] })
  t.deepEqual(await run('--param', 'limit=50'), { code: 64, lines: ['--param limit=50: limit takes 0 to 40 degC, not 50'] })
  t.deepEqual(await run('--param', 'limit=30', '--scope', 'here'), {
    code: 64,
    lines: ['--scope here: it is site, type=TYPE or equipment=ID'],
  })
  t.deepEqual(await run('--param', 'nix=30'), { code: 64, lines: ['--param nix=30: no such parameter, or no number'] })
  t.is((await command('backtest', join(dir, 'rules'))).code, 64)
})

test('backtest reads the history of a workspace, with what is set there and what silences the rule', async t => {
  const params = '{ limit: { default: 20, min: 0, max: 40, unit: degC } }'
  const silencer = yamlOf({ id: 'WHY', severity: '1', suppresses: '[A]', when: 'sa_t > 25' })
  const dir = folder(t, {
    'rules/a.yaml': yamlOf({ id: 'A', params, when: 'sa_t > limit' }) + CASE,
    'rules/why.yaml': silencer + CASE,
  })
  const db = openDatabase(join(dir, 'plenum.db'))
  const model = modelStore(db)
  const building_id = 'hq'
  model.put({
    building: { building_id, name: 'HQ', site_id: 's', timezone: 'UTC', unit_system: 'si' },
    equipment: [{ building_id, equipment_id: 'ahu-1', name: 'AHU 1', equipment_type: 'ahu' }],
    points: [
      {
        point_id: 'p',
        building_id,
        equipment_id: 'ahu-1',
        name: 'P',
        role: 'sa_t',
        unit: 'degF',
        kind: 'number',
        source: { protocol: 'csv', address: 'p' },
      },
    ],
  })
  const historian = await openHistorian({ db, root: join(dir, '.cache', 'parquet'), memoryMb: 200, idleMs: 1000 })
  await historian.append(
    building_id,
    Array.from({ length: 121 }, (_, i) => ({ id: 'p', t: START + i * 60_000, v: i < 30 ? 86 : 50 })),
  )
  await historian.stop()
  const set = { rule_id: 'A', param: 'limit', scope: 'site', scope_id: 's', site_id: 's', unit: 'degC' } as const
  paramSettingStore(db).put({ ...set, value: 35, changed_by: 'kim', changed_at: START })
  db.close()
  const run = (building: string, ...more: string[]) =>
    command('backtest', join(dir, 'rules'), 'A', '--workspace', dir, '--building', building, '--days', '1', ...more)
  const span = 'hq, 2026-03-01 to 2026-03-02'
  t.deepEqual((await run('hq')).lines, [span, 'ahu-1  A  pass (100 % evaluated)'], 'nothing above 35 °C')
  t.deepEqual((await run('hq', '--param', 'limit=20')).lines, [
    span,
    'ahu-1  A  pass (100 % evaluated)  ->  1 episodes, 0.5 h in fault',
    '  appears  2026-03-02 00:00  0.5 h  silenced  A rule',
  ])
  const other = openDatabase(join(dir, 'plenum.db'))
  ruleStateStore(other).set({ rule_id: 'WHY', active: false, changed_by: 'kim', changed_at: START })
  other.close()
  t.is(
    (await run('hq', '--param', 'limit=20')).lines[2],
    '  appears  2026-03-02 00:00  0.5 h  A rule',
    'what does not run silences nothing',
  )
  const deployed = await command('backtest', 'A', '--workspace', dir, '--building', 'hq', '--days', '1')
  t.deepEqual(
    deployed.lines,
    [span, 'ahu-1  A  pass (100 % evaluated)'],
    'the rules of the workspace, without naming their folder',
  )
  t.deepEqual(await run('nowhere'), { code: 64, lines: ['there is no building nowhere (hq)'] })
})
