import test from 'ava'
import { describeEnv, readEnv, type VariableTable } from '#shared/core/env.ts'

const TABLE = {
  PORT: { kind: 'integer', default: 8080, min: 1, max: 65_535, doc: 'where it listens' },
  ENABLED: { kind: 'flag', default: false, doc: 'whether it runs' },
  LEVEL: { kind: 'choice', choices: ['debug', 'info'], default: 'info', doc: 'how much it says' },
  SITE: { kind: 'text', default: 'local', pattern: /^[a-z]+$/, doc: 'whose it is' },
  SECRET: { kind: 'text', minLength: 8, secret: true, doc: 'what signs tokens' },
} as const satisfies VariableTable

const noFile = (path: string): string => {
  throw new Error(`no file ${path}`)
}

test('nothing given means the defaults', t => {
  const read = readEnv(TABLE, { env: {} }, noFile)
  t.true(read.ok)
  t.deepEqual(read.ok && read.settings, { PORT: 8080, ENABLED: false, LEVEL: 'info', SITE: 'local', SECRET: undefined })
})

test('the environment wins over a file, a file over the default, and each value says where it is from', t => {
  const read = readEnv(TABLE, { env: { PORT: '9', PORT_FILE: '/port', SITE_FILE: '/site' } }, path =>
    path === '/site' ? 'north\n' : '8',
  )
  t.true(read.ok)
  if (!read.ok) return
  t.is(read.settings.PORT, 9)
  t.is(read.settings.SITE, 'north')
  t.deepEqual(
    read.effective.map(({ name, source }) => `${name} ${source}`),
    ['PORT environment', 'ENABLED default', 'LEVEL default', 'SITE file', 'SECRET default'],
  )
})

test('the command line wins over the environment, and a settings file only over the default', t => {
  const settingsFile = { path: '/etc/plenum', text: '# ours\n\nPORT = 7\r\nSITE=south\nLEVEL=debug\n' }
  const given = { options: { PORT: '10' }, env: { PORT: '9', SITE: 'east' }, settingsFile }
  const read = readEnv(TABLE, given, noFile)
  t.true(read.ok)
  t.deepEqual(read.ok && read.effective.map(({ name, value, source }) => `${name} ${value} ${source}`), [
    'PORT 10 command line',
    'ENABLED 0 default',
    'LEVEL debug settings file',
    'SITE east environment',
    'SECRET  default',
  ])
})

test('a settings file is complained of by line, a secret on the command line by name', t => {
  const settingsFile = { path: '/s', text: 'PORT=7\nthis\nPORTS=8\nPORT=9\n' }
  const read = readEnv(TABLE, { env: {}, options: { SECRET: 'correct horse' }, settingsFile }, noFile)
  t.deepEqual(read.ok ? [] : read.complaints, [
    '/s, line 2: is not NAME=value',
    '/s, line 3: there is no variable PORTS',
    '/s, line 4: PORT is there twice',
    'SECRET: a secret on the command line is seen by everybody',
  ])
})

test('all complaints come at once, name their variable and never show a secret', t => {
  const read = readEnv(
    TABLE,
    { env: { PORT: '70000', ENABLED: 'yes', LEVEL: 'loud', SITE: 'N 1', SECRET: 'hunter2', X: '1' } },
    noFile,
  )
  t.false(read.ok)
  if (read.ok) return
  t.deepEqual(
    read.complaints.map(complaint => complaint.split(':')[0]),
    ['PORT', 'ENABLED', 'LEVEL', 'SITE', 'SECRET'],
  )
  t.notRegex(read.complaints.join(), /hunter2/)
})

test('a file that cannot be read is a complaint', t => {
  const read = readEnv(TABLE, { env: { SECRET_FILE: '/nowhere' } }, noFile)
  t.deepEqual(read.ok ? [] : read.complaints, ['SECRET_FILE: no file /nowhere'])
})

test('a secret is masked where settings are shown', t => {
  const read = readEnv(TABLE, { env: { SECRET: 'correct horse' } }, noFile)
  t.is(read.ok && read.effective.find(({ name }) => name === 'SECRET')?.value, '********')
})

test('the help names every variable with its default', t => {
  t.regex(describeEnv(TABLE), /PORT\s+where it listens \[8080\]/)
})
