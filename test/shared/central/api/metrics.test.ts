import { createServer } from 'node:net'
import { once } from 'node:events'
import test from 'ava'
import pino from 'pino'
import { metricsService } from '#shared/central/metrics.ts'
import { createRequestCounts } from '#shared/node/http/request-counts.ts'
import { freePort } from '#scripts/lib/free-port.ts'
import { startCentral } from '../../../support/sites/central-site.ts'

const requests = createRequestCounts()
const log = pino({ level: 'silent' })

test('figures of health are given in the text format of Prometheus, and nothing else is', async t => {
  const site = await startCentral()
  t.teardown(site.close)
  const { context } = site.central
  context.health.checks['poll'] = () => ({ status: 'warn', points_ok: 41, points_down: 1, detail: 'a host name' })
  const reason = '0001.jsonl, byte 7: a "quoted" reason'
  context.health.checks['priority_history'] = () => ({ status: 'warn', reason, records: 5, cuts: 1 })
  const at = `127.0.0.1:${await freePort()}`
  const metrics = metricsService(context, requests, at, log)
  await metrics.start()
  t.teardown(metrics.stop)

  const answer = await fetch(`http://${at}/metrics`)
  const text = await answer.text()
  t.is(answer.status, 200)
  t.regex(answer.headers.get('content-type') ?? '', /^text\/plain/)
  t.regex(text, /^plenum_build_info\{service="test",version="0\.0\.0\+000000000000"\} 1$/m)
  t.regex(text, /^plenum_ingest_ok 0$/m)
  t.regex(text, /^plenum_poll_points_ok 41$/m)
  t.regex(text, /^plenum_check\{check="poll"\} 0\.5$/m)
  t.regex(text, /^process_resident_memory_bytes \d+/m)
  t.notRegex(text, /host name/)
  t.true(text.includes('plenum_check_reason{check="priority_history",reason="0001.jsonl, byte 7: a \\"quoted\\" reason"} 1'))
  t.regex(text, /^plenum_priority_history_cuts 1$/m)
  t.is(await (await fetch(`http://${at}/metrics`)).text().then(again => again.match(/^plenum_poll_points_ok /gm)?.length), 1)
  for (const path of ['/', '/api/health', '/metrics?x=1']) t.is((await fetch(`http://${at}${path}`)).status, 404)
  t.is((await fetch(`http://${at}/metrics`, { method: 'POST' })).status, 404)
  t.is((await fetch(`http://${at}/live`)).status, 200)
})

test('an address that is taken ends the start with a sentence; without an address nothing listens', async t => {
  const site = await startCentral()
  t.teardown(site.close)
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => taken.close())
  const at = `127.0.0.1:${(taken.address() as { port: number }).port}`
  const error = await t.throwsAsync(metricsService(site.central.context, requests, at, log).start())
  t.is(error.message, `SERVICE_METRICS_BIND ${at} cannot be used: listen EADDRINUSE: address already in use ${at}`)
  const off = metricsService(site.central.context, requests, undefined, log)
  await off.start()
  await off.stop()
})
