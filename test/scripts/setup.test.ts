/** The installer of packages, with an npm that only notes that it was called: the real one takes a minute and the network. */
import test, { type ExecutionContext } from 'ava'
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testWhere } from '../support/optional.ts'
import { temporaryFolder } from '../support/sites/workspace.ts'

const NPM = '#!/bin/sh\necho "$@" >> npm-calls\nrm -rf node_modules\nmkdir -p node_modules/.bin\n'

function checkout(t: ExecutionContext) {
  const folder = temporaryFolder(t)
  const at = (name: string) => join(folder, name)
  for (const name of ['scripts', 'bin']) mkdirSync(at(name))
  copyFileSync('scripts/setup.sh', at('scripts/setup.sh'))
  writeFileSync(at('bin/npm'), NPM)
  chmodSync(at('bin/npm'), 0o755)
  writeFileSync(at('package-lock.json'), '{"version":1}')
  const { PLENUM_NO_SETUP: _inherited, ...env } = process.env
  return {
    at,
    /** @returns how often npm has installed by then */
    setUp(more: Record<string, string> = {}, args: string[] = []) {
      const path = `${at('bin')}:${env['PATH']}`
      execFileSync(at('scripts/setup.sh'), args, { env: { ...env, ...more, PATH: path }, stdio: ['ignore', 'ignore', 'ignore'] })
      return existsSync(at('npm-calls')) ? readFileSync(at('npm-calls'), 'utf8').trim().split('\n').length : 0
    },
  }
}

const later = new Date(Date.now() + 3_600_000)

test('packages are installed once for each content of the lock file, whatever its time', t => {
  const { at, setUp } = checkout(t)
  t.is(setUp(), 1)
  t.is(setUp(), 1)
  utimesSync(at('package-lock.json'), later, later)
  t.is(setUp(), 1, 'a checkout gave it another time')
  writeFileSync(at('package-lock.json'), '{"version":2}')
  utimesSync(at('package-lock.json'), new Date(0), new Date(0))
  t.is(setUp(), 2, 'other packages, in a file that looks old')
  t.is(setUp(), 2)
})

test('an installation by hand counts until the lock file is newer', t => {
  const { at, setUp } = checkout(t)
  mkdirSync(at('node_modules/.bin'), { recursive: true })
  writeFileSync(at('node_modules/.setup-done'), '')
  t.is(setUp(), 0)
  utimesSync(at('package-lock.json'), later, later)
  t.is(setUp(), 1)
})

test('nothing is installed under a running suite', t => {
  const { at, setUp } = checkout(t)
  t.is(setUp({ PLENUM_NO_SETUP: '1' }), 0)
  t.is(setUp(), 1)
  writeFileSync(at('package-lock.json'), '{"version":2}')
  t.is(setUp({ PLENUM_NO_SETUP: '1' }), 1)
  t.is(process.env['PLENUM_NO_SETUP'], '1', 'so does every script that a test here calls')
})

/** Only root installs packages of Debian. */
testWhere(process.getuid?.() === 0)(
  'an apt-get that is locked by another program is called again, and any other failure ends it',
  t => {
    const { at, setUp } = checkout(t)
    const program = (name: string, text: string) => {
      writeFileSync(at(`bin/${name}`), `#!/bin/sh\n${text}\n`)
      chmodSync(at(`bin/${name}`), 0o755)
    }
    const calls = () => readFileSync(at('apt-calls'), 'utf8').trim().split('\n').length
    program('dpkg-query', 'exit 1')
    program('sleep', ':')
    program(
      'apt-get',
      'echo "$@" >> apt-calls; [ $(wc -l < apt-calls) -gt 2 ] || { echo "E: Could not get lock /var/lib/apt/lists/lock." >&2; exit 100; }',
    )
    setUp({}, ['--image'])
    t.is(calls(), 4, 'update is called three times, install once')
    program('apt-get', 'echo "$@" >> apt-calls; echo "E: Unable to locate package" >&2; exit 100')
    t.throws(() => setUp({}, ['--image']))
    t.is(calls(), 5)
  },
)
