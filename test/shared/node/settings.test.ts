/** Where a process finds its secrets, and where it refuses to take them from. */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import anyTest, { type TestFn } from 'ava'
import { APPLIANCE_ENV, FIELDBUS_ENV } from '#appliance/env.ts'
import { MQTT_ENV } from '#hub/mqtt/env.ts'
import { RETRIEVAL_ENV } from '#hub/retrieval/env.ts'
import { COMPILED } from '#scripts/lib-start/process.ts'
import { MCP_VARIABLES } from '#shared/central/mcp/env.ts'
import { secretArguments } from '#shared/node/auth/secret-arguments.ts'

const test = anyTest as TestFn<{ folder: string }>
test.beforeEach(t => {
  t.context = { folder: mkdtempSync(join(tmpdir(), 'plenum-settings-')) }
})
test.afterEach.always(t => rmSync(t.context.folder, { recursive: true, force: true }))

const MAINS = execFileSync('git', ['ls-files', '--', '*/main.ts'], { encoding: 'utf8' }).split('\n').filter(Boolean)
const VALUE = 'hunter2-hunter2-hunter2-hunter2-hunter2'

function run(main: string, argv: string[], env: Record<string, string> = {}) {
  const { status, stderr, stdout } = spawnSync(process.execPath, [main, ...argv], {
    env: { PATH: process.env['PATH'], ...COMPILED, ...env },
    encoding: 'utf8',
  })
  return { status, said: stderr + stdout }
}

for (const main of MAINS) {
  test(`${main} ends with 78 and the reason when an argument names a secret, and does not repeat it`, t => {
    for (const argv of [[`--SERVICE_JWT_SECRET=${VALUE}`], ['--help', '--SERVICE_JWT_SECRET', VALUE]]) {
      const { status, said } = run(main, argv)
      t.is(status, 78, said)
      t.regex(said, /SERVICE_JWT_SECRET: a secret on the command line is seen by everybody/)
      t.notRegex(said, /hunter2/)
    }
  })
}

test('the journal command of the appliance refuses secrets as arguments too', t => {
  t.is(run('appliance/main.ts', ['journal', 'verify', `--SERVICE_ADMIN_PASSWORD=${VALUE}`]).status, 78)
})

for (const [word, isRefused] of [
  ['--SERVICE_JWT_SECRET=x', true],
  ['SERVICE_JWT_SECRET=x', true],
  ['-SERVICE_JWT_SECRET=x', true],
  ['--service-jwt-secret=x', true],
  ['--SERVICE_LOCAL_INGEST_TOKEN=x', true],
  ['--SERVICE_MCP_TOKEN=x', true],
  ['--SERVICE_API_KEY=x', true],
  ['--password', true],
  ['--api-key=x', true],
  ['--SERVICE_ADMIN_PASSWORD=', true],
  ['--SERVICE_HAYSTACK_ENDPOINT=https://user:pass@haystack.example/api', true],
  ['https://user:pass@haystack.example/api', true],
  ['--SERVICE_JWT_SECRET_FILE=/run/secrets/jwt', false],
  ['--SERVICE_HAYSTACK_ENDPOINT=https://haystack.example/api?a=b:c@d', false],
  ['--SERVICE_SITE_ID=token', false],
  ['--SERVICE_CENTRAL_PORT=8080', false],
  ['--once', false],
  ['journal', false],
  ['token', false],
] as const) {
  test(`the argument ${word} is ${isRefused ? 'refused' : 'no secret'}`, t => {
    const complaints = secretArguments([word])
    t.is(complaints.length > 0, isRefused)
    t.notRegex(complaints.join(), /user:pass/)
  })
}

test('a variable that a table calls secret is one whatever its name', t => {
  t.is(secretArguments(['--SERVICE_PIN=1234'], name => name === 'SERVICE_PIN').length, 1)
})

test('an unknown argument is named without its value', t => {
  const { status, said } = run('hub/web/main.ts', [`--SERVICE_ADMIN_PASWORD=${VALUE}`])
  t.is(status, 78)
  t.regex(said, /--SERVICE_ADMIN_PASWORD: unknown option/)
  t.notRegex(said, /hunter2/)
})

/** A program that prints its settings as JSON. */
const PROGRAM = `
import { settingsOrExit } from '#shared/node/settings.ts'
const TABLE = {
  SERVICE_WORKSPACE: { kind: 'text', default: '/nowhere', doc: 'folder' },
  SERVICE_JWT_SECRET: { kind: 'text', secret: true, minLength: 32, doc: 'signs' },
  SERVICE_ADMIN_PASSWORD: { kind: 'text', secret: true, doc: 'of admin' },
}
const { settings, effective } = settingsOrExit('test', TABLE, process.env, process.argv.slice(2))
process.stdout.write(JSON.stringify({ ...settings, from: Object.fromEntries(effective.map(({ name, source }) => [name, source])) }))
`
test.before(() => {
  mkdirSync('test/shared/.settings', { recursive: true })
  writeFileSync('test/shared/.settings/program.mjs', PROGRAM)
})
test.after.always(() => rmSync('test/shared/.settings', { recursive: true, force: true }))
const program = (env: Record<string, string>, argv: string[] = []) => run('test/shared/.settings/program.mjs', argv, env)

function authFile(folder: string, text: string, mode = 0o600) {
  const path = join(folder, 'auth.env.local')
  writeFileSync(path, text)
  chmodSync(path, mode)
}

test('secrets of auth.env.local in the workspace count after the environment', t => {
  const { folder } = t.context
  authFile(
    folder,
    `# ours\nSERVICE_JWT_SECRET=${VALUE}\nSERVICE_ADMIN_PASSWORD="two words"\nSERVICE_MCP_TOKEN=of another process\n`,
  )
  const alone = JSON.parse(program({ SERVICE_WORKSPACE: folder }).said)
  t.like(alone, { SERVICE_JWT_SECRET: VALUE, SERVICE_ADMIN_PASSWORD: 'two words' })
  t.is(alone.from.SERVICE_JWT_SECRET, 'auth.env.local')
  const both = JSON.parse(program({ SERVICE_WORKSPACE: folder, SERVICE_ADMIN_PASSWORD: 'of the environment' }).said)
  t.like(both, { SERVICE_JWT_SECRET: VALUE, SERVICE_ADMIN_PASSWORD: 'of the environment' })
})

test('the workspace of auth.env.local may be named by an argument or by the settings file', t => {
  const { folder } = t.context
  authFile(folder, `SERVICE_ADMIN_PASSWORD=found\n`)
  t.like(JSON.parse(program({}, [`--SERVICE_WORKSPACE=${folder}`]).said), { SERVICE_ADMIN_PASSWORD: 'found' })
  const settings = join(folder, 'settings')
  writeFileSync(settings, `SERVICE_WORKSPACE = ${folder}\n`)
  t.like(JSON.parse(program({ SERVICE_SETTINGS_FILE: settings }).said), { SERVICE_ADMIN_PASSWORD: 'found' })
  t.is(JSON.parse(program({}).said).SERVICE_ADMIN_PASSWORD, undefined)
})

for (const mode of [0o640, 0o604, 0o660, 0o644, 0o601]) {
  test(`auth.env.local with the permissions ${mode.toString(8)} is refused`, t => {
    authFile(t.context.folder, `SERVICE_ADMIN_PASSWORD=found\n`, mode)
    const { status, said } = program({ SERVICE_WORKSPACE: t.context.folder })
    t.is(status, 78)
    t.regex(said, /auth\.env\.local holds secrets and others may read it: chmod 600/)
    t.notRegex(said, /found/)
  })
}

for (const [what, text, complaint] of [
  ['a line that is none', 'SERVICE_ADMIN_PASSWORD hunter2\n', /auth\.env\.local, line 1: is not NAME=value/],
  ['a name of nobody’s', 'ADMIN_PASSWORD=hunter2\n', /line 1: there is no variable ADMIN_PASSWORD/],
  ['a name twice', 'SERVICE_ADMIN_PASSWORD=a\nSERVICE_ADMIN_PASSWORD=b\n', /line 2: SERVICE_ADMIN_PASSWORD is there twice/],
  ['a secret too short', 'SERVICE_JWT_SECRET=hunter2\n', /SERVICE_JWT_SECRET: takes at least 32 characters/],
] as const) {
  test(`auth.env.local with ${what} is refused with the place`, t => {
    authFile(t.context.folder, text)
    const { status, said } = program({ SERVICE_WORKSPACE: t.context.folder })
    t.is(status, 78)
    t.regex(said, complaint)
    t.notRegex(said, /hunter2/)
  })
}

test('central starts with nothing but auth.env.local, and its help says so', t => {
  const { folder } = t.context
  t.regex(run('hub/central/main.ts', ['--help']).said, /auth\.env\.local/)
  const env = { SERVICE_WORKSPACE: folder, SERVICE_CENTRAL_BIND: '127.0.0.1', SERVICE_MQTT_ENABLED: '0' }
  t.regex(run('hub/central/main.ts', ['--once'], env).said, /SERVICE_JWT_SECRET: without it/)
  authFile(folder, `SERVICE_JWT_SECRET=${VALUE}\n`)
  t.is(run('hub/central/main.ts', ['--once'], env).status, 0)
})

test('processes of one machine listen at different ports unless they are told otherwise', t => {
  const ports = [
    APPLIANCE_ENV.SERVICE_CENTRAL_PORT,
    FIELDBUS_ENV.SERVICE_EDGE_PORT,
    RETRIEVAL_ENV.SERVICE_RETRIEVAL_PORT,
    MCP_VARIABLES.SERVICE_MCP_PORT,
    MQTT_ENV.SERVICE_MQTT_PORT,
  ].map(variable => variable.default)
  t.is(new Set(ports).size, ports.length, ports.join(', '))
})
