/** What the API answers is what its OpenAPI document states: on a hub with buildings, edges, findings and certificates. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import test, { type ExecutionContext } from 'ava'
import { makeRequest } from '#shared/node/pki/pki.ts'
import { folder } from '../support/folders.ts'
import { BUILDING, EDGES, EQUIPMENT, FINDINGS, NOW, POINTS, samplesOf } from '../support/page-fixture.ts'
import { makeHubAuthority, openEnrolSite } from '../support/sites/enrol-site.ts'
import { warmRule } from '../support/rule-texts.ts'
import { PASSWORDS } from '../support/sites/page-site.ts'

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })

const RULE = 'AHU-FC12-COOL-NO-DROP'

/** A schema that takes no field which it does not name. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const within = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  return 'properties' in within && !('additionalProperties' in within) ? { ...within, additionalProperties: false } : within
}

async function hub(t: ExecutionContext) {
  const { hub: dir } = await makeHubAuthority(folder(t))
  const site = await openEnrolSite(dir, 8883, { api: true })
  t.teardown(site.close)
  const send = async (method: string, path: string, body?: object, token?: string) => {
    const headers = { ...(body && { 'content-type': 'application/json' }), ...(token && { authorization: `Bearer ${token}` }) }
    const answer = await fetch(site.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return { status: answer.status, text: await answer.text() }
  }
  const login = await send('POST', '/api/auth/login', { username: 'admin', password: PASSWORDS.admin })
  const { token } = JSON.parse(login.text) as { token: string }
  const { paths } = JSON.parse((await send('GET', '/api/openapi.json')).text) as { paths: Record<string, any> }
  /** The path as the document has it, with its parameters. */
  const documented = (path: string) => {
    const bare = path.split('?')[0]!
    const fits = (one: string) => new RegExp(`^${one.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(bare)
    return bare in paths ? bare : Object.keys(paths).find(fits)!
  }
  const operations = new Set<string>()
  /** Sends a request that succeeds, and compares its answer with what is stated. */
  const ask = async (method: string, path: string, body?: object): Promise<any> => {
    const { status, text } = await send(method, path, body, token)
    t.is(Math.floor(status / 100), 2, `${method} ${path}: ${text}`)
    const name = documented(path)
    const { schema } = paths[name][method.toLowerCase()].responses[200].content['application/json']
    operations.add(`${method} ${name}`)
    const answer = JSON.parse(text)
    t.true(Object.keys(schema.properties).length > 1, `${method} ${name} states more than ok`)
    t.true(ajv.validate(closed(schema) as object, answer), `${method} ${name}: ${ajv.errorsText()} in ${text.slice(0, 2000)}`)
    return answer
  }
  return { site, send, ask, operations }
}

test('the answers of what clients ask most are as the OpenAPI document states them, without a field more', async t => {
  const { site, send, ask, operations } = await hub(t)
  const { building_id } = BUILDING
  const [equipment, point, finding] = [EQUIPMENT[0]!, POINTS.find(one => one.equipment_id !== undefined)!, FINDINGS[0]!]

  t.true((await ask('GET', '/api/model/buildings')).buildings.length > 0)
  t.true((await ask('GET', `/api/model/equipment?building_id=${building_id}`)).equipment.length > 0)
  t.true((await ask('GET', `/api/model/points?building_id=${building_id}`)).points.length > 0)
  const { next_cursor } = await ask('GET', `/api/model/points?building_id=${building_id}&limit=1`)
  t.is(typeof next_cursor, 'string')
  await ask('POST', '/api/model/buildings', {
    buildings: [{ building_id: 'b-new', name: 'New', timezone: 'UTC', unit_system: 'si', lat: 1, lon: 2 }],
  })
  await ask('POST', '/api/model/equipment', { equipment: [{ ...equipment, building_id: 'b-new', feeds: [] }] })
  const source = { protocol: 'bacnet', address: '1001/analog-input,1' }
  const { edge_id: _edge, gone: _gone, ...own } = point
  await ask('POST', '/api/model/points?dry_run=true', {
    points: [{ ...own, building_id: 'b-new', equipment_id: equipment.equipment_id, source }],
  })
  await ask('POST', '/api/model/assignments/save', {
    ...{ confirm: true, building_id },
    assignments: [{ point_id: point.point_id, equipment_id: point.equipment_id, role: point.role }],
  })

  t.true((await ask('GET', '/api/fdd/findings')).findings.length > 3)
  const of = `/api/fdd/findings/${finding.finding_id}`
  await ask('GET', of)
  await ask('POST', `${of}/ack`, { ack: true, assignee: 'Ann' })
  await ask('POST', `${of}/snooze`, {
    until: new Date(NOW + 86_400_000).toISOString(),
    reason: 'waits for a part',
    scope: 'fault',
  })
  await ask('POST', `${of}/note`, { note: 'seen' })
  await ask('POST', `${of}/not-a-fault`, { reason: 'as designed' })
  await ask('GET', '/api/fdd/findings')
  for (const asked of [`point_ids=${point.point_id}`, `rule_id=${finding.rule_id}&equipment_id=${finding.equipment_id}`]) {
    const { series } = await ask('GET', `/api/fdd/series?building_id=${building_id}&max_points=50&${asked}`)
    t.true(series.some((one: { points: unknown[] }) => one.points.length > 0))
  }
  const reading = { building_id, point_id: point.point_id, edge_id: 'edge-1', observed_at: 1000, arrived_at: NOW }
  site.context.misdated.keep([{ ...reading, value: 1, quality: 'good' }])
  t.is((await ask('GET', `/api/history/misdated?building_id=${building_id}`)).readings.length, 1)

  t.is((await ask('GET', '/api/edges')).edges.length, EDGES.length)
  const { site_id, edge_id } = EDGES[0]!
  await ask('GET', `/api/edges/${edge_id}?site_id=${site_id}`)
  site.context.edgeClaims.refuse({ site_id, edge_id, reason: 'it is another one', since: NOW })
  site.context.edgeClaims.claim({ building_id, site_id, edge_id, from_edge_id: 'edge-2', since: NOW })
  const claims = await ask('GET', '/api/edge-claims')
  t.deepEqual([claims.refusals.length, claims.takeovers.length], [1, 1])
  await ask('POST', '/api/edge-claims/confirm', { building_id, confirm: true })

  // Its rules run here, those of a building with an appliance do not.
  const annex = { building_id: 'annex' }
  const points = POINTS.map(({ edge_id: _by, ...one }) => ({ ...one, ...annex }))
  site.context.model.put({
    ...{ building: { ...BUILDING, ...annex }, equipment: EQUIPMENT.map(one => ({ ...one, ...annex })), points },
  })
  for (const one of points) {
    const { ts, values } = samplesOf(one)
    await site.context.historian.append(
      'annex',
      Array.from(ts, (at, i) => ({ id: one.point_id, t: at, v: values[i]! })),
    )
  }
  t.true((await ask('POST', '/api/fdd/run', annex)).results.length > 3)
  const started = await ask('POST', '/api/fdd/run?async=true', annex)
  await ask('GET', `/api/fdd/runs/${started.run_id}`)
  t.true((await ask('GET', '/api/fdd/runs')).runs.length > 1)
  t.true((await ask('GET', '/api/fdd/results?building_id=annex')).results.length > 3)
  t.true((await ask('GET', '/api/fdd/equipment?building_id=annex')).equipment.length > 0)
  t.true((await ask('GET', '/api/audit')).rows.length > 3)
  await ask('GET', '/api/backups')
  await ask('GET', '/api/storage')
  const whole = { name: 'Night', webhook_url: 'https://127.0.0.1:9/hook', building_ids: [building_id], digest_day: 1 }
  const { route_id } = await ask('POST', '/api/alerts/routes', { ...whole, hours: { days: [1], from: '08:00', to: '17:00' } })
  await ask('PUT', `/api/alerts/routes/${route_id}`, { ...whole, name: 'Day', kinds: ['fault'], priority_max: 1 })
  t.is((await ask('GET', '/api/alerts/routes')).routes.length, 1)
  await ask('POST', `/api/alerts/routes/${route_id}/test`)
  t.is((await ask('GET', '/api/alerts/deliveries')).deliveries.length, 1)

  const { csr_pem } = await makeRequest('anything')
  const box = JSON.parse((await send('POST', '/api/enrolments', { csr_pem, edge_id })).text) as { fingerprint: string }
  t.is((await ask('GET', '/api/enrolments')).boxes.length, 1)
  await ask('POST', `/api/enrolments/${box.fingerprint}/accept`, { site_id, edge_id, broker_host: 'hub.example' })
  t.is((await ask('GET', '/api/mqtt/certificates')).certificates.length, 1)
  await ask('POST', `/api/edges/${edge_id}/renew?site_id=${site_id}`, { csr_pem })
  t.is((await ask('POST', `/api/edges/${edge_id}/revoke?site_id=${site_id}`, { confirm: true })).revoked.length, 2)
  await ask('GET', '/api/mqtt/certificates')
  t.true(operations.size >= 37, String(operations.size))
})

test('the answers about rules, parameters, baselines and prices are as the OpenAPI document states them', async t => {
  const { site, ask, operations } = await hub(t)
  const annex = { building_id: 'annex' }
  site.context.model.put({
    building: { ...BUILDING, ...annex },
    equipment: EQUIPMENT.map(one => ({ ...one, ...annex })),
    points: POINTS.map(({ edge_id: _by, ...one }) => ({ ...one, ...annex })),
  })
  for (const one of POINTS) {
    const { ts, values } = samplesOf(one)
    await site.context.historian.append(
      'annex',
      Array.from(ts, (at, i) => ({ id: one.point_id, t: at, v: values[i]! })),
    )
  }
  const { rules } = await ask('GET', '/api/fdd-rules?limit=500')
  const rule = rules.find(({ id }: { id: string }) => id === RULE)
  t.truthy(rule)
  await ask('GET', `/api/fdd-rules/${RULE}`)
  await ask('GET', `/api/fdd-rules/${RULE}/text`)
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'GET'])
    await ask(method, `/api/fdd-rules/${RULE}/activate?active=false`)
  const changed = (await ask('GET', '/api/fdd-rules?limit=500')).rules.find(({ id }: { id: string }) => id === RULE)
  t.false(changed.active)
  await ask('POST', `/api/fdd-rules/${RULE}/activate`)
  await ask('GET', '/api/fdd/coverage?building_id=annex')
  await ask('GET', '/api/fault-definitions')

  await ask('POST', '/api/rules/batch', { confirm: true, rules: [{ filename: 'warm.yaml', yaml: warmRule() }] })
  const { versions } = await ask('GET', '/api/fdd-rules/TEST-WARM/versions')
  t.is(versions.length, 1)
  await ask('GET', `/api/fdd-rules/TEST-WARM/text?version=${versions[0].sha256}`)
  await ask('POST', '/api/fdd-rules/TEST-WARM/roll-back', { to: versions[0].sha256, confirm: true })
  t.is((await ask('POST', '/api/rules/batch', {})).runs.length, 1)
  await ask('POST', '/api/fdd/backtest', { ...annex, yaml: warmRule(), days: 1 })

  const [param, { min, max, unit }] = Object.entries<{ min: number; max: number; unit: string }>(rule.params)[0]!
  const setting = { ...annex, rule_id: RULE, param, scope: 'site' }
  await ask('PUT', '/api/fdd/params', { ...setting, value: min, unit, note: 'as built' })
  t.truthy((await ask('PUT', '/api/fdd/params', { ...setting, value: max })).before)
  t.is((await ask('GET', '/api/fdd/params?building_id=annex')).settings.length, 1)
  await ask('GET', `/api/fdd/params/${RULE}?building_id=annex`)
  await ask('POST', '/api/fdd/backtest', { ...annex, rule_id: RULE, params: { [param]: min }, days: 7 })
  await ask('DELETE', `/api/fdd/params?${new URLSearchParams(setting)}`)

  const [date, equipment_id] = ['2026-03-01', EQUIPMENT[0]!.equipment_id]
  const figures = { value: 1, spread: null, days_used: 1, dates: [date], left_out: [{ date, why: 'fault' }], cold: false }
  const looked = [{ equipment_id, rule_id: RULE }]
  site.context.baselines.keep({ ...annex, date, today: date, looked, baselines: [{ ...looked[0]!, ...figures, name: 'usual' }] })
  const baseline = { ...annex, ...looked[0]!, name: 'usual' }
  await ask('POST', '/api/fdd/baselines/reset', { ...baseline, note: 'new coil' })
  t.truthy((await ask('POST', '/api/fdd/baselines/reset', { ...baseline, note: 'another one' })).before)
  const { baselines } = await ask('GET', `/api/fdd/baselines?${new URLSearchParams({ ...annex, ...looked[0]! })}`)
  t.truthy(baselines.find((one: { name: string }) => one.name === 'usual').reset)
  await ask('POST', '/api/fdd/baselines/restore', baseline)

  const quantity = { ...annex, quantity_id: 'q', equipment_id, property: 'ratedCOP', numeric_value: 3, unit_code: '1' }
  const known = { quantity_kind: 'Efficiency', value_basis: 'Rated', source_type: 'plate', review_status: 'Reviewed' }
  await ask('POST', '/api/model/quantities', { quantities: [{ ...quantity, ...known }] })
  t.is((await ask('GET', '/api/model/quantities')).quantities.length, 1)
  t.is((await ask('GET', '/api/model/prices?building_id=annex')).prices, null)
  await ask('PUT', '/api/model/prices', { ...annex, currency: 'EUR', electricity: 0.3 })
  await ask('GET', '/api/model/prices?building_id=annex')

  t.true((await ask('GET', '/api/search?q=air')).items.length > 3)
  await ask('GET', '/api/restore')
  t.true(operations.size >= 27, String(operations.size))
})
