import { request as rawRequest } from 'node:http'
import { PassThrough } from 'node:stream'
import test from 'ava'
import fastify from 'fastify'
import { BUCKETS_SECS, countRequests, createRequestCounts } from '#shared/node/http/request-counts.ts'
import { until } from '../../../support/folders.ts'

async function open() {
  const [app, counts] = [fastify(), createRequestCounts()]
  countRequests(app, counts)
  const held = new PassThrough()
  app.get('/api/good', () => ({ ok: true }))
  app.get('/api/bad', () => {
    throw new Error('broken')
  })
  app.get('/api/events', (_request, reply) => reply.type('text/event-stream').send(held))
  app.get('/api/held', () => new Promise(() => undefined))
  app.get('/page', () => 'page')
  const base = await app.listen({ host: '127.0.0.1', port: 0 })
  return { app, counts, base, held }
}
const plain = (counts: ReturnType<typeof createRequestCounts>) =>
  Object.fromEntries([...counts.answered].map(([kind, classes]) => [kind, Object.fromEntries(classes)]))

test('requests are counted by kind and class of status, and the time of each answer falls in one bucket', async t => {
  const { app, counts, base } = await open()
  t.teardown(() => app.close())
  for (const path of ['/api/good', '/api/good?x=1', '/api/bad', '/page', '/nowhere', '/static/none.js', '/apiary'])
    await (await fetch(base + path)).arrayBuffer()
  await until(() => counts.running === 0, 'the end of all')
  t.deepEqual(plain(counts), { api: { '2xx': 2, '5xx': 1 }, page: { '2xx': 1, '4xx': 2 }, static: { '4xx': 1 } })
  const { buckets, count, sumSecs } = counts.latency.get('api')!
  t.is(count, 3)
  t.true(sumSecs > 0)
  t.is(buckets.length, BUCKETS_SECS.length)
  t.true(buckets.reduce((sum, one) => sum + one) <= count)
})

test('a caller who goes away is counted once as aborted and has no time; a stream has none either', async t => {
  const { app, counts, base, held } = await open()
  t.teardown(() => app.close())
  const request = rawRequest(`${base}/api/held`).on('error', () => undefined)
  request.end()
  await until(() => counts.running === 1, 'the request')
  request.destroy()
  await until(() => counts.running === 0, 'its end')
  t.deepEqual(plain(counts), { api: { aborted: 1 } })
  held.write('data: 0\n\n')
  const answer = await fetch(`${base}/api/events`)
  held.end('data: 1\n\n')
  await answer.text()
  await until(() => counts.running === 0, 'the end of the stream')
  t.deepEqual(plain(counts), { api: { aborted: 1, '2xx': 1 } })
  t.is(counts.latency.size, 0)
})
