/** The version of a tree that is no checkout of the user who runs it. */
import { execFileSync } from 'node:child_process'
import { chownSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { testWhere } from '../../support/optional.ts'

const NOBODY = 65_534
const isRoot = process.getuid?.() === 0

/** A tree of its own, with the module that asks. */
function tree(t: ExecutionContext) {
  const dir = mkdtempSync(join(tmpdir(), 'plenum-version-'))
  t.teardown(() => rmSync(dir, { recursive: true }))
  mkdirSync(join(dir, 'shared', 'node'), { recursive: true })
  cpSync('shared/node/version.ts', join(dir, 'shared', 'node', 'version.ts'))
  writeFileSync(join(dir, 'package.json'), '{"version":"1.2.3","type":"module"}')
  const script = `try { console.log((await import('${dir}/shared/node/version.ts')).readVersion()) } catch (error) { console.log(error.message) }`
  const env = { PATH: process.env['PATH'] ?? '', GIT_CEILING_DIRECTORIES: tmpdir() }
  const said = () => execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', env }).trim()
  return { dir, said }
}

test('a tree that is neither built nor a checkout says what is missing', t => {
  const { dir, said } = tree(t)
  t.is(
    said(),
    `the version is not known: ${dir}/ has no file VERSION and is no checkout of git: write it there, as scripts/version.ts prints it in a checkout`,
  )
  writeFileSync(join(dir, 'VERSION'), '1.2.3+0123456789ab\n')
  t.is(said(), '1.2.3+0123456789ab')
})

testWhere(isRoot)('a checkout of another user says its version too', t => {
  const { dir, said } = tree(t)
  const git = (...argv: string[]) => execFileSync('git', argv, { cwd: dir, stdio: 'ignore' })
  git('init')
  git('-c', 'user.name=t', '-c', 'user.email=t@example', 'commit', '--allow-empty', '-m', 'x')
  for (const name of ['.', ...readdirSync(dir)]) chownSync(join(dir, name), NOBODY, NOBODY)
  t.regex(said(), /^1\.2\.3\+[0-9a-f]{12}$/)
})
