/** The official client speaks to the real process, and the process to central with a simulated building and findings on it. */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import anyTest, { type ExecutionContext, type TestFn } from 'ava'
import { COMPILED } from '#scripts/lib-start/process.ts'
import { documentIndex, documentIndexFile } from '../../support/document-index.ts'
import { httpServer, stdioClient, tokenFor } from '../../support/mcp-client.ts'
import { airHandler, rows, table } from '../../support/packages/packages.ts'
import { openSite, PASSWORDS, type TestSite } from '../../support/sites/page-site.ts'

const MAIN = 'hub/mcp/main.ts'
const INDEX = documentIndex()

/** One central for the tests that only read. Each of them starts a process: one after the other, none waits for the start of the others. */
const test = anyTest as TestFn<{ site: TestSite }>

test.before(async t => {
  t.context = { site: await openSite({ product: 'hub', api: true }) }
})
test.after.always(t => t.context.site.close())

/** Another central, for a test that changes it. */
async function openCentral(t: ExecutionContext) {
  const site = await openSite({ product: 'hub', api: true })
  t.teardown(site.close)
  return accessTo(t, site)
}

async function accessTo(t: ExecutionContext, site: TestSite) {
  const token = await tokenFor(site.url, 'agent', PASSWORDS.agent)
  const env = { SERVICE_API_BASE: site.url, SERVICE_MCP_TOKEN: token, SERVICE_DOCS_INDEX: documentIndexFile(t, INDEX) }
  return { site, token, env }
}

test.serial('over stdio an agent finds an active fault and is told why, term by term, in units of the building', async t => {
  const { env } = await accessTo(t, t.context.site)
  const { call } = await stdioClient(t, MAIN, env)
  const { text: list, isError } = await call('list_findings', { building_id: 'school', state: 'active' })
  t.false(isError)
  t.regex(
    list,
    /f-cooling \| school \| ahu-1 \| Supply air too warm .* \| 1 \| active, urgent \| 2026-11-20T08:02:10-06:00 \| now \| 6 h/,
  )
  const { text } = await call('explain_finding', { finding_id: 'f-cooling' })
  t.regex(text, /^Supply air too warm with the cooling valve wide open – Air handler 1 \(ahu-1\) in Riverside School/)
  t.regex(text, /sa_t \[62\.2 °F\] - sa_t_sp \[55\.0 °F\] > tolerance \[1\.98 °F\]: true/)
  t.regex(text, /ma_t \[75\.4 °F\] > sa_t \[62\.2 °F\]: could not be evaluated/)
  t.regex(text, /where too_warm is avg\(sa_t - sa_t_sp, 10m\)/)
  t.regex(text, /full: 95 %, set for this site/)
  t.regex(text, /- cooling valve, weight 0\.7\n- supply air sensor, weight 0\.2/)
  t.regex(text, /f-zone: Zone too warm while occupied on vav-3/)
})

test.serial('over HTTP each caller is central to its own token, and without one nobody is let in', async t => {
  const { site, token } = await accessTo(t, t.context.site)
  const env = { SERVICE_API_BASE: site.url, SERVICE_MCP_PORT: '0' }
  const server = await httpServer(t, MAIN, env)
  t.regex((await (await server.connect(token)).call('list_findings')).text, /f-cooling/)
  const wrong = await (await server.connect('not-a-token')).call('list_findings')
  t.true(wrong.isError)
  t.regex(wrong.text, /^unauthenticated: /)
  await t.throwsAsync(server.connect())
})

/** Each read tool with arguments that fit the simulated building. */
const CALLS: [name: string, given: Record<string, unknown>, says: RegExp][] = [
  ['get_health', {}, /database: ok/],
  ['list_buildings', {}, /school \| Riverside School/],
  ['list_equipment', { building_id: 'school' }, /vav-3/],
  ['list_points', { building_id: 'school', equipment_id: 'ahu-1' }, /sa_t/],
  ['read_series', { building_id: 'school', equipment_id: 'ahu-1', rule_id: 'AHU-SUPPLY-WARM' }, /°F/],
  ['list_findings', {}, /f-cooling/],
  ['explain_finding', { finding_id: 'f-cooling' }, /Condition: /],
  ['list_rules', { limit: 5 }, /cursor "/],
  ['explain_rule', { rule_id: 'AHU-SUPPLY-WARM' }, /AHU-SUPPLY-WARM/],
  ['list_runs', { building_id: 'school' }, /\d{4}-\d\d-\d\d/],
  ['get_coverage', { building_id: 'school' }, /can run/],
  [
    'search_docs',
    { query: 'forgotten override' },
    /^What to do when > A forgotten override \(docs\/playbooks\.md#a-forgotten-override\)\n/,
  ],
  ['what_changed', { building_id: 'school', from: '2026-11-20T06:00:00-06:00' }, /began: Supply air too warm/],
]

for (const main of ['hub/mcp/main.ts', 'appliance/mcp/main.ts']) {
  test.serial(`every read tool of ${main} answers in bounded plain words`, async t => {
    const { env } = await accessTo(t, t.context.site)
    const { call, client } = await stdioClient(t, main, env)
    const { tools } = await client.listTools()
    const known = new Set(tools.map(({ name }) => name))
    for (const [name, given, says] of CALLS) {
      t.true(known.has(name), name)
      const { text, isError } = await call(name, given)
      t.false(isError, `${name}: ${text}`)
      t.regex(text, says, name)
      t.true(Buffer.byteLength(text) <= 24 * 1024, name)
    }
    for (const { name, annotations } of tools) {
      t.deepEqual(Object.keys(annotations!).toSorted(), [
        'destructiveHint',
        'idempotentHint',
        'openWorldHint',
        'readOnlyHint',
        'title',
      ])
      t.is(annotations!.readOnlyHint, name !== 'openfdd_csv_import_preflight', name)
    }
    t.false(known.has('openfdd_csv_package_append'), 'what writes is absent')
    t.is(known.has('openfdd_csv_import_preflight'), main.startsWith('hub'), 'an appliance only reads')
  })
}

test.serial('the session in MCP.md is what the tools answer, and its table lists them all', async t => {
  const site = await openSite({ product: 'appliance', api: true })
  t.teardown(site.close)
  const token = await tokenFor(site.url, 'agent', PASSWORDS.agent)
  const env = { SERVICE_API_BASE: site.url, SERVICE_MCP_TOKEN: token, SERVICE_DOCS_INDEX: documentIndexFile(t, INDEX) }
  const document = readFileSync('shared/central/mcp/MCP.md', 'utf8')
  const { call } = await stdioClient(t, 'appliance/mcp/main.ts', env)
  const session = [...document.matchAll(/^`(\w+) (\{.*\})`\n\n```text\n([^`]*)\n```$/gm)]
  t.is(session.length, 3)
  for (const [, name, given, text] of session) t.is((await call(name!, JSON.parse(given!))).text, text!, name)

  const { client } = await stdioClient(t, MAIN, { ...env, SERVICE_MCP_ALLOW_WRITES: '1' })
  const { tools } = await client.listTools()
  const listed = [...document.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name!)
  t.deepEqual(listed.toSorted(), tools.map(({ name }) => name).toSorted())
})

for (const main of ['hub/mcp/main.ts', 'appliance/mcp/main.ts']) {
  test.serial(`search_docs of ${main} is there with its index alone, and says so when the index breaks`, async t => {
    const { env } = await accessTo(t, t.context.site)
    const none = await stdioClient(t, main, { ...env, SERVICE_DOCS_INDEX: `${env.SERVICE_DOCS_INDEX}.none` })
    const { tools } = await none.client.listTools()
    t.false(tools.some(({ name }) => name === 'search_docs'))

    const { call } = await stdioClient(t, main, env)
    const tagged = await call('search_docs', { query: '"forgotten" AND (override', tags: ['rule'], top_k: 1 })
    t.regex(tagged.text, /^Rules > OVR-MANUAL-LONG: .* \(rules\/OVR-MANUAL-LONG\)\n/)
    t.regex((await call('search_docs', { query: 'xylophone' })).text, /^Nothing fits/)
    t.true(Buffer.byteLength((await call('search_docs', { query: 'the edge', top_k: 20 })).text) <= 24 * 1024)
    writeFileSync(env.SERVICE_DOCS_INDEX, 'broken')
    const broken = await call('search_docs', { query: 'override' })
    t.true(broken.isError)
    t.regex(broken.text, /^index_unavailable: /)
  })
}

test.serial('a list goes on with its cursor until each row was seen once', async t => {
  const { env } = await accessTo(t, t.context.site)
  const { call } = await stdioClient(t, MAIN, env)
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const { text } = await call('list_rules', { limit: 50, ...(cursor !== undefined && { cursor }) })
    seen.push(
      ...text
        .split('\n')
        .slice(1)
        .flatMap(line => /^([A-Z][A-Z0-9-]+) \|/.exec(line)?.[1] ?? []),
    )
    cursor = /call again with cursor "([^"]+)"/.exec(text)?.[1]
  } while (cursor !== undefined)
  t.true(seen.length > 100)
  t.is(new Set(seen).size, seen.length)
})

test.serial('what is wrong with a call is said in words, and nothing of the server shows', async t => {
  const { env, site } = await openCentral(t)
  const { call } = await stdioClient(t, MAIN, env)
  for (const [name, given, says] of [
    ['explain_finding', { finding_id: 'none' }, /^unknown_finding: /],
    ['list_equipment', { building_id: 'none' }, /^unknown_building: /],
    ['list_findings', { cursor: 'made-up' }, /^bad_cursor: /],
    ['what_changed', { building_id: 'school', from: 'yesterday' }, /^bad_request: from takes an instant/],
  ] as const) {
    const { text, isError } = await call(name, given)
    t.true(isError, name)
    t.regex(text, says)
    t.false(/\n\s+at /.test(text), name)
  }
  await site.close()
  const gone = await call('list_findings')
  t.true(gone.isError)
  t.regex(gone.text, /^central_unreachable: .*ECONNREFUSED/)
})

test.serial('with writes allowed a chunk is appended once it is confirmed, and needs a token that may', async t => {
  const { env, site } = await openCentral(t)
  const writes = { ...env, SERVICE_MCP_ALLOW_WRITES: '1' }
  const { call } = await stdioClient(t, MAIN, writes)
  const files = Object.entries(airHandler(table(rows(50)))).map(([path, text]) => ({ path, text: String(text) }))
  const { text: verdict, isError } = await call('openfdd_csv_import_preflight', { files })
  t.false(isError, verdict)
  const [, session_id] = /session ([\w-]+),/.exec(verdict)!
  const headers = { authorization: `Bearer ${env.SERVICE_MCP_TOKEN}`, 'content-type': 'application/json' }
  const execute = { method: 'POST', headers, body: JSON.stringify({ session_id, confirm: true }) }
  t.is((await fetch(`${site.url}/api/csv/import/execute`, execute)).status, 200)

  const chunk = { building_id: 'b1', equipment_id: 'AHU-1', csv: table(rows(10, Date.UTC(2026, 2, 2, 6))) }
  const unsure = await call('openfdd_csv_package_append', chunk)
  t.true(unsure.isError)
  t.regex(unsure.text, /^confirm_required: /)
  t.regex((await call('openfdd_csv_package_append', { ...chunk, confirm: true })).text, /^10 of 10 rows added/)
  t.regex(
    (await call('openfdd_csv_package_append', { ...chunk, confirm: true })).text,
    /^0 of 10 rows added, 10 were there already/,
  )

  const viewer = await tokenFor(site.url, 'viewer', PASSWORDS.viewer)
  const reader = await stdioClient(t, MAIN, { ...writes, SERVICE_MCP_TOKEN: viewer })
  t.regex((await reader.call('openfdd_csv_package_append', { ...chunk, confirm: true })).text, /^forbidden: /)
})

test.serial('a page of another site and an unknown host name are refused', async t => {
  const { site, token } = await accessTo(t, t.context.site)
  const { url } = await httpServer(t, MAIN, { SERVICE_API_BASE: site.url, SERVICE_MCP_PORT: '0', SERVICE_MCP_TOKEN: token })
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  const send = async (more: Record<string, string>) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...more }
    const { status, text } = await requestOf(url, headers, message)
    if (status === 403) t.true(text.includes(`not reached as ${more['origin'] ?? more['host']}; SERVICE_MCP_HOSTS`), text)
    return status
  }
  t.is(await send({}), 200, 'a program of this machine uses the token of the server')
  t.is(await send({ origin: 'https://example.org' }), 403)
  t.is(await send({ host: 'rebound.example.org' }), 403)
  t.is(await send({ 'x-forwarded-for': '203.0.113.9' }), 401, 'what came through a proxy is not of this machine')
})

test.serial('settings that cannot work end the process with 78 and the name of the setting', async t => {
  const { status, stderr } = spawnSync(process.execPath, [MAIN], {
    env: { PATH: process.env['PATH'], ...COMPILED, SERVICE_MCP_TRANSPORT: 'http', SERVICE_MCP_BIND: '0.0.0.0' },
    encoding: 'utf8',
  })
  t.is(status, 78)
  t.regex(stderr, /SERVICE_MCP_HOSTS/)
})

/** `fetch` sends its own host header. */
const requestOf = (
  url: string,
  headers: Record<string, string>,
  body: string,
): Promise<{ status: number | undefined; text: string }> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers }, answer => {
      readText(answer).then(said => resolve({ status: answer.statusCode, text: said }), reject)
    })
    sent.once('error', reject)
    sent.end(body)
  })
