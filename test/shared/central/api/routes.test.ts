import test from 'ava'
import { OPEN_PATHS } from '#shared/central/pages/system/system.view.ts'
import { readFileSync } from 'node:fs'
import { PROBLEMS } from '#shared/core/problem.ts'
import type { Route } from '#shared/node/http/route.ts'
import { EFFECTIVE, startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral()
})
test.after.always(() => site?.close())

/** Every other route needs a token. @source the service specification, Authentication */
const PUBLIC = [
  'GET /api/auth/status',
  'GET /api/building/snapshot',
  'GET /api/dashboard/summary',
  'GET /api/health',
  'GET /health',
  'POST /api/auth/login',
]
const nameOf = ({ method, path }: Route) => `${method} ${path}`
/** Public because one signs in with them, or because they describe the interface. */
const SIGN_IN_AND_DOCS = /^\/api\/(auth|docs|openapi\.json|mcp)/

test('the public routes are those of the specification', t => {
  const found = site.central.routes.filter(({ auth }) => auth === 'public').map(nameOf)
  t.deepEqual(found.toSorted(), PUBLIC)
})

test('a GET that changes something takes a token in the Authorization header alone', t => {
  const changing = site.central.routes.filter(({ method, action }) => method === 'GET' && action !== undefined)
  t.deepEqual(changing.map(nameOf), ['GET /api/fdd-rules/:rule_id/activate'])
  for (const each of changing) t.true(each.bearerOnly)
})

test('every JSON answer says ok', async t => {
  for (const route of site.central.routes.filter(({ method, path }) => method === 'GET' && !path.includes(':'))) {
    const { status, body, headers } = await site.call('admin', 'GET', route.path)
    // A schema is a document of its own.
    if (status !== 200 || body === undefined || headers.get('content-type')?.includes('schema+json')) continue
    t.is(body.ok, true, nameOf(route))
  }
})

test('every route that writes names what the audit calls it', t => {
  const silent = site.central.routes.filter(({ method, action }) => method !== 'GET' && action === undefined)
  t.deepEqual(silent.map(nameOf), [])
})

test('API.md lists every route with its role and the problems of its own', t => {
  const text = readFileSync(new URL('../../../../shared/central/API.md', import.meta.url), 'utf8')
  const told = text
    .split('\n')
    .map(line => line.split('|').map(cell => cell.trim()))
    .filter(([, method = '']) => /^[A-Z]+$/.test(method))
    .map(([, method, path, role, marks, problems]) => {
      const codes = [...problems!.matchAll(/`(\w+)`/g)].map(([, code]) => code!)
      return { name: `${method} ${path!.replaceAll('`', '')}`, role, marks: marks!.split(', '), problems: codes }
    })
  t.deepEqual(
    told.map(({ name, role }) => `${name} ${role}`).toSorted(),
    site.central.routes.map(route => `${nameOf(route)} ${route.auth}`).toSorted(),
  )
  for (const { name, problems, marks } of told) {
    const route = site.central.routes.find(one => nameOf(one) === name)!
    t.deepEqual(problems.toSorted(), [...(route.problems ?? [])].toSorted(), name)
    t.is(marks.includes('I'), route.idempotent === true, `${name} I`)
    t.is(marks.includes('D'), route.query?.['properties']?.dry_run !== undefined, `${name} D`)
    t.is(marks.includes('key'), route.apiKey === true, `${name} key`)
    for (const code of problems) t.true(code in PROBLEMS, code)
  }
})

test('the page of the API names every route and needs no script', async t => {
  const { text, headers } = await site.call('nobody', 'GET', '/api/docs')
  t.regex(headers.get('content-type')!, /^text\/html/)
  for (const { path } of site.central.routes.filter(one => one.path.startsWith('/api/'))) t.true(text.includes(path), path)
  t.notRegex(text, /<script/)
  const open = Array.from(text.matchAll(/<td>GET<\/td><td><code>([^<]+)<\/code><\/td><td>public</g), ([, path]) => path!)
  t.deepEqual(open.filter(path => !SIGN_IN_AND_DOCS.test(path)).toSorted(), OPEN_PATHS.toSorted(), 'the page System names them')
})

test('what everyone may see holds no name, address or value', async t => {
  const { context } = site.central
  context.model.put({
    building: { building_id: 'secret-building', name: 'Secret Tower', site_id: 's', timezone: 'UTC', unit_system: 'si' },
    equipment: [{ equipment_id: 'secret-ahu', building_id: 'secret-building', name: 'Secret AHU', equipment_type: 'ahu' }],
    points: [
      {
        point_id: 'secret-point',
        building_id: 'secret-building',
        name: 'Secret SAT',
        unit: 'degC',
        kind: 'number',
        source: { protocol: 'bacnet', address: '10.1.2.3' },
      },
    ],
  })
  for (const path of ['/api/building/snapshot', '/api/dashboard/summary']) {
    const { text, status } = await site.call('nobody', 'GET', path)
    t.is(status, 200)
    t.notRegex(text, /secret|10\.1\.2\.3/i)
  }
})

// Alone: other tests read health too.
test.serial('health is 503 with the same body when a check fails, and says which', async t => {
  const { checks } = site.central.context.health
  checks['broker'] = () => {
    throw new Error('no connection')
  }
  t.teardown(() => delete checks['broker'])
  const { status, body } = await site.call('nobody', 'GET', '/api/health')
  t.deepEqual([status, body.ok, body.checks.broker], [503, false, { status: 'fail' }])
  const { body: details } = await site.call('viewer', 'GET', '/api/health/details')
  t.deepEqual(details.checks.broker, { status: 'fail', detail: 'no connection' })
  t.is(body.version, '0.0.0+000000000000')
  checks['broker'] = () => ({ status: 'warn', detail: 'slow' })
  t.is((await site.call('nobody', 'GET', '/health')).status, 200)
})

test('an admin sees where every setting comes from', async t => {
  const { status, body } = await site.call('admin', 'GET', '/api/config/effective')
  t.is(status, 200)
  t.deepEqual(body, { ok: true, settings: EFFECTIVE })
})
