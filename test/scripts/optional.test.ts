import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { closingLine, readTapResult, RowCount } from '#scripts/lib/tap.ts'

for (const [line, wanted] of [
  ['ok 1 - a title', { outcome: 'passed', title: 'a title' }],
  ['not ok 2 - a title', { outcome: 'failed', title: 'a title' }],
  ['ok 3 - a title # SKIP', { outcome: 'skipped', title: 'a title' }],
  ['ok 4', { outcome: 'passed', title: '' }],
  ['    ok 5 - a line of a log', undefined],
  ['# skip 1', undefined],
  ['1..5', undefined],
] as const) {
  test(`"${line}" counts as ${wanted?.outcome ?? 'nothing'}`, t => t.deepEqual(readTapResult(line), wanted))
}

test('the closing line is of two figures, and of three when a test was not run', t => {
  t.is(closingLine({ passed: 12, failed: 0, skipped: 0 }), '12 passed, 0 failed')
  t.is(closingLine({ passed: 12, failed: 3, skipped: 4 }), '12 passed, 3 failed, 4 skipped')
})

test('rows of the specification are counted by their titles, and those that failed or are missing do not hold', t => {
  const rows = new RowCount()
  t.is(rows.line(), undefined)
  for (const line of ['ok 1 - spec › endpoints › row 1 of 3: GET /', 'not ok 2 - row 2 of 3: x', 'ok 3 - a row 3 of papers'])
    rows.add(readTapResult(line)!)
  t.is(rows.line(), 'specification: 1 of 3 rows')
})

/** A project of its own whose only test reads a file of the data beside it. */
function project(t: ExecutionContext): { dir: string; run(env: Record<string, string>): { code: number; results: string[] } } {
  const folder = mkdtempSync(join(tmpdir(), 'plenum-optional-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const dir = join(folder, 'tree')
  mkdirSync(join(dir, 'test'), { recursive: true })
  symlinkSync(resolve('node_modules'), join(dir, 'node_modules'))
  for (const file of ['package.json', 'test/support/optional.ts']) cpSync(file, join(dir, file), { recursive: true })
  writeFileSync(
    join(dir, 'ava.config.js'),
    "export default { files: ['test/*.test.ts'], extensions: ['ts'], workerThreads: false }",
  )
  writeFileSync(
    join(dir, 'test/data.test.ts'),
    `import { readFileSync } from 'node:fs'
import { dataPath, testWithData } from './support/optional.ts'
testWithData('the data are right', t => t.is(readFileSync(dataPath('a.txt'), 'utf8'), 'right'))`,
  )
  return {
    dir: folder,
    run(env) {
      const { CI: _, ...own } = process.env
      const { status, stdout } = spawnSync('node_modules/.bin/ava', ['--tap'], {
        cwd: dir,
        env: { ...own, ...env, NODE_ENV: '', AVA_PATH: '' },
        encoding: 'utf8',
      })
      return { code: status!, results: stdout.split('\n').flatMap(line => readTapResult(line)?.outcome ?? []) }
    },
  }
}

test('a test of data is not run where there are none, and red where continuous integration or the folder asks for them', t => {
  const { dir, run } = project(t)
  t.deepEqual(run({}), { code: 0, results: ['skipped'] })
  t.deepEqual(run({ CI: 'true' }), { code: 1, results: ['failed'] })
  mkdirSync(join(dir, 'shared/data'), { recursive: true })
  t.deepEqual(run({}), { code: 1, results: ['failed'] })
  writeFileSync(join(dir, 'shared/data/a.txt'), 'right')
  t.deepEqual(run({}), { code: 0, results: ['passed'] })
})
