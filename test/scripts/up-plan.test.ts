import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { RECIPE_NAMES } from '#image/recipes/deployments.ts'
import { planOf } from '../../scripts/lib-up/plan.ts'
import { findRunning, refuseDowngrade, RUNNING } from '../../scripts/lib-up/state.ts'
import { RECIPE_SETTINGS } from '../support/compose-text.ts'
import { readUpOptions, type UpOptions } from '../../scripts/lib-up/up-options.ts'

const optionsOf = (...argv: string[]): UpOptions => {
  const options = readUpOptions(['--data', '/srv/data', ...argv], {})
  if (options === 'help' || 'wrong' in options) throw new Error(JSON.stringify(options))
  return options
}
const profiled = (name: string): string[] => (name === 'edge-split' ? ['--profile', 'haystack'] : [])

function folder(t: ExecutionContext): string {
  const path = mkdtempSync(join(tmpdir(), 'plenum-up-'))
  t.teardown(() => rmSync(path, { recursive: true }))
  return path
}

for (const name of RECIPE_NAMES) {
  test(`${name} runs on loopback, each part at a port of its own, with central first and web last`, t => {
    const { parts } = planOf(optionsOf(name, ...profiled(name)), RECIPE_SETTINGS)
    const names = parts.map(({ component }) => component)
    if (names.includes('central')) t.is(names[0], 'central')
    if (names.includes('web')) t.is(names.at(-1), 'web')
    t.is(new Set(parts.map(({ url }) => url)).size, parts.length)
    for (const { url, env } of parts) {
      t.is(new URL(url).hostname, '127.0.0.1')
      for (const [variable, value] of Object.entries(env)) if (variable.endsWith('_BIND')) t.is(value, '127.0.0.1', variable)
    }
  })

  test(`${name} without its settings names each that is missing`, t => {
    const options = optionsOf(name, ...profiled(name))
    const names = new Set<string>()
    for (const variable of Object.keys(RECIPE_SETTINGS)) {
      try {
        planOf(options, { ...RECIPE_SETTINGS, [variable]: '' })
      } catch (error) {
        names.add(variable)
        t.like(error, { kind: 'configuration' })
        t.true((error as Error).message.includes(`\n  ${variable}: `), variable)
      }
    }
    t.true(names.size > 0)
    const all = t.throws(() => planOf(options, {}))
    for (const variable of names) t.true(all!.message.includes(variable), variable)
  })
}

test('edge-split takes exactly one of its profiles, and other recipes take none', t => {
  for (const command of ['stop', 'status']) t.like(readUpOptions(['edge-split', command], {}), { command, profile: undefined })
  t.like(readUpOptions(['edge-split'], {}), {
    wrong: 'The recipe edge-split takes one profile: --profile bacnet_modbus or --profile haystack',
  })
  t.true('wrong' in (readUpOptions(['edge-split', '--profile', 'fieldbus'], {}) as object))
  t.like(readUpOptions(['csv', '--profile', 'haystack'], {}), { wrong: 'The recipe csv has no profiles' })
  const { parts } = planOf(optionsOf('edge-split', '--profile', 'bacnet_modbus'), RECIPE_SETTINGS)
  t.deepEqual(
    parts.map(({ main }) => main),
    ['appliance/bacnet-modbus/main.ts'],
  )
})

test('mistakes in the arguments are answered in words', t => {
  for (const [argv, says] of [
    [[], 'Name a recipe'],
    [['moon'], 'There is no recipe moon'],
    [['csv', 'restart'], 'There is no command restart'],
    [['csv', '--port-base', '80'], '--port-base takes a whole number from 1024 to 65000'],
    [['csv', '--moon'], "Unknown option '--moon'"],
  ] as const) {
    const read = readUpOptions([...argv], {})
    t.is(typeof read === 'object' && 'wrong' in read ? read.wrong : undefined, says)
  }
})

test('the file of settings counts after the environment, and a secret may come from a file', t => {
  const dir = folder(t)
  const [envFile, secret] = [join(dir, 'csv.env'), join(dir, 'admin')]
  writeFileSync(secret, 'admin-of-the-test')
  writeFileSync(envFile, `SERVICE_JWT_SECRET=${'f'.repeat(40)}\nSERVICE_SITE_ID=of-the-file\n# nothing\nQUERY_MEMORY_MB=128\n`)
  const environment = { SERVICE_SITE_ID: 'of-the-shell', SERVICE_ADMIN_PASSWORD_FILE: secret, HOME: '/root' }
  const [central] = planOf(optionsOf('csv', '--env-file', envFile), environment).parts
  t.like(central!.env, {
    SERVICE_JWT_SECRET: 'f'.repeat(40),
    SERVICE_SITE_ID: 'of-the-shell',
    QUERY_MEMORY_MB: '128',
    SERVICE_ADMIN_PASSWORD_FILE: secret,
    SERVICE_WORKSPACE: '/srv/data/workspace',
    SERVICE_RULE_RESULTS_DIR: '/srv/data/results',
  })
  t.false('HOME' in central!.env)
  const missing = t.throws(() => planOf(optionsOf('csv', '--env-file', join(dir, 'none')), environment))
  t.regex(missing!.message, /^--env-file: ENOENT/)
})

test('web and broker are opened where the site says so, and central stays on loopback', t => {
  const opened = {
    ...RECIPE_SETTINGS,
    SERVICE_WEB_BIND: '0.0.0.0',
    SERVICE_MQTT_BIND: '10.0.0.5',
    SERVICE_CENTRAL_BIND: '0.0.0.0',
  }
  const { parts } = planOf(optionsOf('hub', '--port-base', '9000'), opened)
  const env = Object.fromEntries(parts.map(part => [part.component, part.env]))
  t.is(env['web']!['SERVICE_WEB_BIND'], '0.0.0.0')
  t.is(env['mqtt']!['SERVICE_MQTT_BIND'], '10.0.0.5')
  t.is(env['central']!['SERVICE_CENTRAL_BIND'], '127.0.0.1')
  t.is(env['web']!['SERVICE_CENTRAL_UPSTREAM'], '127.0.0.1:9001')
  t.deepEqual([env['central']!['SERVICE_MQTT_HOST'], env['central']!['SERVICE_MQTT_PORT']], ['10.0.0.5', '9002'])
})

test('data of a later version is refused, data of an earlier one and of another build is not', t => {
  const dir = folder(t)
  t.notThrows(() => refuseDowngrade(dir, '1.2.3+0123456789ab'))
  for (const [wrote, now, isRefused] of [
    ['1.2.4+0123456789ab', '1.2.3+0123456789ab', true],
    ['1.10.0+0123456789ab', '1.9.9+0123456789ab', true],
    ['1.2.3+0123456789ab', '1.2.3+ffffffffffff', false],
    ['1.2.3+0123456789ab', '2.0.0+0123456789ab', false],
  ] as const) {
    writeFileSync(join(dir, 'version'), `${wrote}\n`)
    if (!isRefused) t.notThrows(() => refuseDowngrade(dir, now))
    else
      t.throws(() => refuseDowngrade(dir, now), {
        message: `The data in ${dir} was written by ${wrote}, and this is ${now}: a downgrade is refused; start ${wrote} or later, or restore a backup that ${now} made into another folder`,
      })
  }
})

test('settings that a part would refuse are named before anything starts, those of all parts at once', t => {
  const wrong = { SERVICE_JWT_SECRET: 'short', SERVICE_LOG_LEVEL: 'loud', SERVICE_MQTT_PORT: 'abc', SERVICE_WEB_PORT: '0' }
  const error = t.throws(() => planOf(optionsOf('hub'), { ...RECIPE_SETTINGS, ...wrong }))
  t.like(error, { kind: 'configuration' })
  for (const name of Object.keys(wrong)) t.is(error!.message.split(`\n  ${name}: `).length, 2, name)
})

test('names in a file of settings that no part of the recipe has are known', t => {
  const file = join(folder(t), 'hub.env')
  const fine =
    'SERVICE_IMAGE_TAG=nightly\nSERVICE_NETWORK=10.0.0.0/24\nSERVICE_TLS_DIR=/tls\nSERVICE_ADMIN_PASSWORD_FILE=/s\nSERVICE_WEB_PORT=3000\n'
  writeFileSync(file, `${fine}SERVICE_EST_PORT=8085\nSERVICE_WEB_PROT=3000\nHOME=/\n`)
  const { unknown } = planOf(optionsOf('hub', '--env-file', file), RECIPE_SETTINGS)
  t.deepEqual(unknown.toSorted(), ['HOME', 'SERVICE_EST_PORT', 'SERVICE_WEB_PROT'])
})

test('where it cannot be found out whether a recipe runs, nobody says that none does', t => {
  const data = folder(t)
  t.is(findRunning(data), undefined)
  t.is(findRunning(join(data, 'none')), undefined)
  symlinkSync(RUNNING, join(data, RUNNING)) // As a folder of another user, it cannot be looked at.
  t.like(
    t.throws(() => findRunning(data)),
    { kind: 'configuration' },
  )
})
