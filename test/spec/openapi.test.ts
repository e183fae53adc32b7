/** The OpenAPI document and the routes of a hub are the same, both ways, and anybody may read it. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import test from 'ava'
import { PROBLEMS } from '#shared/core/problem.ts'
import type { Route } from '#shared/node/http/route.ts'
import { TRIED_KEYWORDS } from '../support/unfit.ts'
import { openSpecHub, sharedEnds, tokenOf } from './spec-site.ts'

const ends = sharedEnds()
test.after.always(ends.end)

test('the OpenAPI document has every route below /api with its role and its schemas, and no other', async t => {
  const { send, routes } = await openSpecHub(ends)
  const { body, status } = await send('GET', '/api/openapi.json')
  t.is(status, 200)
  t.is(body.openapi, '3.1.0')
  const described = Object.entries<Record<string, any>>(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      operation,
    })),
  )
  const api = routes.filter(({ path }) => path.startsWith('/api/'))
  const documents = ['GET /api/openapi.json', 'GET /api/docs']
  const names = described.map(({ name }) => name).filter(name => !name.startsWith('HEAD'))
  t.deepEqual(names.toSorted(), [...api.map(({ method, path }) => `${method} ${path}`), ...documents].toSorted())
  for (const { method, path, auth, body: schema, takes = 'json' } of api) {
    const { operation } = described.find(({ name }) => name === `${method} ${path}`)!
    t.deepEqual(operation.security, auth === 'public' ? [] : [{ bearer: [] }], path)
    t.true(operation.description.startsWith(auth === 'public' ? 'Public' : `Needs the role ${auth}`), path)
    if (schema && takes === 'json')
      t.is(operation.requestBody.content['application/json'].schema.additionalProperties, schema['additionalProperties'], path)
  }
})

/** Answers that are asked for with `Accept` or a parameter besides those that the path alone gives. */
const OTHERS: [path: string, accept: string][] = [
  ['/api/audit', 'text/csv'],
  ['/api/fdd/coverage?building_id=b1', 'text/csv'],
  ['/api/fdd/series?building_id=b1&format=csv', '*/*'],
  ...['csv', 'haystack', 'brick'].map((format): [string, string] => [`/api/model/export?building_id=b1&format=${format}`, '*/*']),
]

test('the OpenAPI document says of which media type an answer is', async t => {
  const { send } = await openSpecHub(ends)
  const token = await tokenOf(send, 'admin')
  const buildings = [{ building_id: 'b1', name: 'One', timezone: 'UTC', unit_system: 'si' }]
  t.is((await send('POST', '/api/model/buildings', { token, body: { buildings } })).status, 200)
  const { paths } = (await send('GET', '/api/openapi.json')).body
  const wrong: string[] = []
  let succeeded = 0
  const ask = async (path: string, accept: string) => {
    const { status, headers } = await send('GET', path, { token, accept })
    if (status !== 200) return
    succeeded++
    const stated = Object.keys(paths[path.split('?')[0]!].get.responses[200].content)
    const [answered] = headers.get('content-type')!.split(';')
    if (!stated.includes(answered!)) wrong.push(`${path}: ${answered}, not ${stated.join(' or ')}`)
  }
  for (const [path, { get }] of Object.entries<Record<string, any>>(paths)) {
    if (get === undefined || path.includes('{')) continue
    const takesBuilding = get.parameters?.some(({ name }: { name: string }) => name === 'building_id')
    await ask(takesBuilding ? `${path}?building_id=b1` : path, '*/*')
  }
  for (const [path, accept] of OTHERS) await ask(path, accept)
  t.deepEqual(wrong, [])
  t.true(succeeded > 40, String(succeeded))
})

/** Every schema below `value`: of bodies, answers and parameters. */
function schemasOf(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, within]) => (key === 'schema' ? [within] : schemasOf(within)))
}

test('a program can be made from the OpenAPI document: its schemas are of JSON Schema 2020-12, its operations have names', async t => {
  const { send } = await openSpecHub(ends)
  const { paths } = (await send('GET', '/api/openapi.json')).body
  const schemas = schemasOf(paths)
  t.true(schemas.length > 300)
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  for (const schema of schemas) t.true(ajv.validateSchema(schema), `${JSON.stringify(schema)}: ${ajv.errorsText()}`)
  const operations = Object.values<object>(paths).flatMap(methods => Object.values(methods))
  const names: string[] = operations.map(({ operationId }) => operationId)
  t.is(new Set(names).size, operations.length)
  for (const name of names) t.regex(name, /^(get|post|put|patch|delete)[A-Z]\w+$/)
})

/** They say what a schema is about, hold further ones, or check nothing by themselves. */
const WITHOUT_CHECK = ['properties', 'items', 'patternProperties', 'title', 'description', 'default', 'examples', 'format', '$id']

/** The keywords of a schema and of those within it. */
function keywordsOf(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(keywordsOf)
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const within = keyword === 'properties' || keyword === 'patternProperties' ? Object.values(value) : [value]
    return [
      keyword,
      ...(['enum', 'const', 'default', 'examples', 'required'].includes(keyword) ? [] : within.flatMap(keywordsOf)),
    ]
  })
}

test('every operation says which problems it has of its own, by their status', async t => {
  const { send, routes } = await openSpecHub(ends)
  const { paths } = (await send('GET', '/api/openapi.json')).body
  let stated = 0
  for (const { method, path, problems = [] } of routes.filter(one => one.path.startsWith('/api/'))) {
    const { responses } = paths[path.replaceAll(/:(\w+)/g, '{$1}')][method.toLowerCase()]
    for (const code of problems) {
      const { description, content } = responses[PROBLEMS[code].status]
      if (content['application/json']) continue // A check that fails answers as one that passes.
      t.true(description.includes(`\`${code}\`: ${PROBLEMS[code].title}`), `${method} ${path}: ${description}`)
      stated++
    }
  }
  t.true(stated > 200, String(stated))
})

test('every check that a route states is one whose refusal is tried in German', async t => {
  const { routes } = await openSpecHub(ends)
  const ofRoute = ({ body, query, params }: Route) => [body, query, params].flatMap(keywordsOf)
  const stated = new Set(routes.flatMap(ofRoute))
  t.true(stated.size > 10, [...stated].join(', '))
  t.deepEqual(
    [...stated].filter(keyword => !TRIED_KEYWORDS.has(keyword) && !WITHOUT_CHECK.includes(keyword)),
    [],
  )
})
