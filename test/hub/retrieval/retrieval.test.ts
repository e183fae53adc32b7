/** The real process over real HTTP, with an index of the product's own documents. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import test, { type ExecutionContext } from 'ava'
import { COMPILED } from '#scripts/lib-start/process.ts'
import { openSite, PASSWORDS } from '../../support/sites/page-site.ts'
import { documentIndex, documentIndexFile } from '../../support/document-index.ts'
import { tokenFor } from '../../support/mcp-client.ts'

const MAIN = 'hub/retrieval/main.ts'
const bytes = documentIndex()

async function openService(t: ExecutionContext, env: Record<string, string> = {}) {
  const own = {
    SERVICE_RETRIEVAL_PORT: '0',
    SERVICE_DOCS_INDEX: env['SERVICE_DOCS_INDEX'] ?? documentIndexFile(t, bytes),
    ...env,
  }
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env['PATH'], ...COMPILED, ...own },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exit = once(child, 'close')
  t.teardown(async () => {
    if (child.exitCode === null) child.kill('SIGTERM')
    await exit
  })
  const lines: string[] = []
  const base = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', line => {
      lines.push(line)
      if (line.includes('"retrieval listens"')) resolve((JSON.parse(line) as { url: string }).url)
    })
    exit.then(() => reject(new Error(lines.join('\n'))))
  })
  const send = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(base + path, init)
    const body = (await answer.json()) as Record<string, any>
    return { status: answer.status, type: answer.headers.get('content-type')!, body }
  }
  return {
    base,
    lines,
    get: (path: string) => send(path),
    post: (tool: string, body: unknown, headers: Record<string, string> = {}) =>
      send(`/tools/${tool}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
  }
}

test('health and manifest say what there is, and each tool of the manifest is a route', async t => {
  const { base, get, post } = await openService(t)
  t.regex(base, /^http:\/\/127\.0\.0\.1:/)
  const health = await get('/health')
  t.is(health.status, 200)
  t.deepEqual(Object.keys(health.body), ['ok', 'index_exists', 'sections'])
  t.true(health.body['ok'] && health.body['index_exists'] && health.body['sections'] > 300)
  const { body } = await get('/manifest')
  t.is(body['name'], 'plenum-retrieval')
  t.regex(body['version'], /^\d+\.\d+\.\d+\+[0-9a-f]{12}$/)
  t.deepEqual(
    body['tools'].map(({ name, mode }: { name: string; mode: string }) => `${name} ${mode}`),
    [
      'search_docs read',
      'get_doc_section read',
      'search_api_capabilities read',
      'get_operator_playbook read',
      'run_fdd write_guarded',
      'append_csv_chunk write_guarded',
    ],
  )
  for (const { name, route, input_schema } of body['tools']) {
    t.is(route, `/tools/${name}`)
    t.is(input_schema.type, 'object')
    t.false(input_schema.additionalProperties)
    t.not((await post(name, {})).status, 404, name)
  }
})

test('a question finds its section, which names its source and can be read whole', async t => {
  const { post } = await openService(t)
  const { status, body } = await post('search_docs', { query: 'forgotten override', top_k: 3 })
  t.is(status, 200)
  t.true(body['ok'])
  t.is(body['results'].length, 3)
  const [{ source, path, tags, excerpt }] = body['results']
  t.deepEqual([source, path, tags], ['docs/playbooks.md#a-forgotten-override', 'docs/playbooks.md', ['playbook']])
  t.regex(excerpt, /override/)
  const section = (await post('get_doc_section', { path_or_id: source })).body
  t.is(section['source'], source)
  t.regex(section['text'], /release the level/)
  const tagged = (await post('search_docs', { query: 'forgotten override', tags: ['rule'] })).body
  t.is(tagged['results'][0].source, 'rules/OVR-MANUAL-LONG')
  t.is((await post('search_docs', { query: 'damper', top_k: 50 })).body['results'].length, 50)
})

test('routes of the API and playbooks are answered with their source', async t => {
  const { post } = await openService(t)
  const [route] = (await post('search_api_capabilities', { query: 'acknowledge finding', top_k: 1 })).body['results']
  t.is(`${route.method} ${route.path} ${route.role}`, 'POST /api/fdd/findings/{finding_id}/ack operator')
  t.is(route.source, 'shared/central/API.md#rules-and-runs')
  const { body } = await post('get_operator_playbook', { task_type: 'edge_silent' })
  t.is(body['source'], 'docs/playbooks.md#an-edge-is-silent')
  t.true(body['steps'].length >= 5)
  t.regex(body['steps'][0], /Fleet/)
})

/** Requests that are refused: tool, body, status, code, and what the problem names. */
const REFUSED: [tool: string, body: unknown, status: number, code: string, says: RegExp][] = [
  ['search_docs', {}, 400, 'bad_request', /query/],
  ['search_docs', { query: '' }, 400, 'bad_request', /query/],
  ['search_docs', { query: 'x'.repeat(401) }, 400, 'bad_request', /query/],
  ['search_docs', { query: 'x', top_k: 51 }, 400, 'bad_request', /top_k/],
  ['search_docs', { query: 'x', top_k: 0 }, 400, 'bad_request', /top_k/],
  ['search_docs', { query: 'x', top_k: '5' }, 400, 'bad_request', /top_k/],
  ['search_docs', { query: 'x', tags: ['secret'] }, 400, 'bad_request', /tags/],
  ['search_docs', { query: 'x', more: 1 }, 400, 'bad_request', /more/],
  ['search_api_capabilities', { query: 'x', top_k: 51 }, 400, 'bad_request', /top_k/],
  ['get_doc_section', { path_or_id: '../package.json' }, 404, 'unknown_section', /search_docs/],
  ['get_operator_playbook', { task_type: 'dance' }, 404, 'unknown_task', /edge_silent, fault_flagged/],
]

test('what is refused is a problem that names its place', async t => {
  const { post, get } = await openService(t)
  for (const [tool, given, status, code, says] of REFUSED) {
    const { body, ...answer } = await post(tool, given)
    t.is(answer.status, status, JSON.stringify(given))
    t.regex(answer.type, /^application\/problem\+json/)
    t.is(body['code'], code)
    t.regex(body['detail'], says)
  }
  t.is((await get('/tools/search_docs')).status, 405)
  t.is((await get('/tools/none')).status, 404)
  t.is((await post('search_docs', { query: '" OR (NEAR' })).status, 200)
})

test('guarded actions answer 403 until the setting allows them', async t => {
  for (const env of [{}, { SERVICE_MCP_ENABLE_ACTION_TOOLS: 'false' }, { SERVICE_MCP_ENABLE_ACTION_TOOLS: '0' }] as Record<
    string,
    string
  >[]) {
    const { post } = await openService(t, env)
    for (const tool of ['run_fdd', 'append_csv_chunk']) {
      for (const given of [{ building_id: 'b', equipment_id: 'e', csv: 'x', confirm: true }, {}]) {
        const { status, type, body } = await post(tool, given, { authorization: 'Bearer whatever' })
        t.is(status, 403)
        t.regex(type, /^application\/problem\+json/)
        t.is(body['code'], 'action_tools_disabled')
        t.regex(body['detail'], /SERVICE_MCP_ENABLE_ACTION_TOOLS=true/)
      }
    }
  }
})

test('without an index, and with a broken one, health says so and the tools that read are 503', async t => {
  const path = documentIndexFile(t, bytes.subarray(0, 5000))
  const broken = await openService(t, { SERVICE_DOCS_INDEX: path })
  const missing = await openService(t, { SERVICE_DOCS_INDEX: `${path}.none` })
  for (const { get, post } of [broken, missing]) {
    const health = await get('/health')
    t.is(health.status, 503)
    t.deepEqual(health.body, { ok: false, index_exists: false, sections: 0 })
    t.is((await get('/manifest')).status, 200)
    for (const [tool, body] of [
      ['search_docs', { query: 'x' }],
      ['get_doc_section', { path_or_id: 'README.md' }],
      ['search_api_capabilities', { query: 'x' }],
      ['get_operator_playbook', { task_type: 'edge_silent' }],
    ] as const) {
      const answer = await post(tool, body)
      t.is(answer.status, 503)
      t.is(answer.body['code'], 'index_unavailable')
      t.false(answer.body['detail'].includes(path))
    }
  }
  t.is(missing.lines.filter(line => line.includes('cannot be used')).length, 1, 'a failure is logged once')
  writeFileSync(path, bytes)
  t.is((await broken.get('/health')).status, 200, 'an index that was mended is read without a restart')
})

test('allowed actions do what central lets the caller do, once they are confirmed', async t => {
  const site = await openSite({ product: 'appliance', api: true })
  t.teardown(site.close)
  const { post } = await openService(t, { SERVICE_MCP_ENABLE_ACTION_TOOLS: 'true', SERVICE_API_BASE: `${site.url}/` })
  const bearer = async (name: 'agent' | 'viewer') => ({
    authorization: `Bearer ${await tokenFor(site.url, name, PASSWORDS[name])}`,
  })
  const run = { building_id: 'school', confirm: true }
  t.is((await post('run_fdd', run)).body['code'], 'unauthenticated')
  t.is((await post('run_fdd', run, { authorization: 'Bearer wrong' })).body['code'], 'unauthenticated')
  t.is((await post('run_fdd', run, await bearer('viewer'))).body['code'], 'forbidden')
  const agent = await bearer('agent')
  t.is((await post('run_fdd', { building_id: 'school' }, agent)).body['code'], 'confirm_required')
  t.is((await post('run_fdd', { building_id: 'none', confirm: true }, agent)).body['code'], 'unknown_building')
  t.is((await post('run_fdd', { confirm: true }, agent)).status, 400)
  const { status, body } = await post('run_fdd', run, agent)
  t.is(status, 200, JSON.stringify(body))
  t.is(typeof body['run_id'], 'string')
  const chunk = { building_id: 'school', equipment_id: 'none', csv: 'timestamp_utc,a\n', confirm: true }
  t.is((await post('append_csv_chunk', chunk, agent)).body['code'], 'unknown_equipment')
  await site.close()
  const gone = await post('run_fdd', run, agent)
  t.is(gone.status, 502)
  t.is(gone.body['code'], 'central_unreachable')
})

test('help names every setting, and a wrong one ends the start with 78', t => {
  const start = (args: string[], env: Record<string, string> = {}) =>
    spawnSync(process.execPath, [MAIN, ...args], { env: { PATH: process.env['PATH'], ...COMPILED, ...env }, encoding: 'utf8' })
  t.regex(start(['--help']).stdout, /SERVICE_RETRIEVAL_BIND[^\n]*\[127\.0\.0\.1\]/)
  t.regex(start(['--help']).stdout, /SERVICE_MCP_ENABLE_ACTION_TOOLS[^\n]*\[false\]/)
  const { status, stderr } = start([], { SERVICE_MCP_ENABLE_ACTION_TOOLS: 'maybe' })
  t.is(status, 78)
  t.regex(stderr, /SERVICE_MCP_ENABLE_ACTION_TOOLS: takes one of false, true, 0, 1, not "maybe"/)
})
