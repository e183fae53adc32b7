import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import test from 'ava'
import fastify from 'fastify'
import { freePort } from '../../scripts/lib/free-port.ts'
import { webService } from '../../hub/web/proxy.ts'

/** A central that says which path it was asked for. */
async function startCentral(port = 0) {
  const app = fastify()
  app.all('/*', ({ method, url, headers }) => ({ method, url, cookie: headers.cookie, host: headers.host }))
  await app.listen({ host: '127.0.0.1', port })
  return { app, upstream: `127.0.0.1:${(app.server.address() as AddressInfo).port}` }
}

async function startWeb(upstream: string, pages = true) {
  const port = await freePort()
  const web = webService({ host: '127.0.0.1', port, upstream, resolver: 'auto', pages })
  await web.start()
  return { web, base: `http://127.0.0.1:${port}` }
}

test('the API, the twins and the pages come from central, with the caller’s cookie and host', async t => {
  const { app, upstream } = await startCentral()
  const { web, base } = await startWeb(upstream)
  t.teardown(() => Promise.all([app.close(), web.stop()]))
  for (const path of ['/api/health?x=1', '/twins/b1', '/faults', '/']) {
    const answer = await fetch(`${base}${path}`, { headers: { cookie: 'a=1' } })
    t.deepEqual(await answer.json(), { method: 'GET', url: path, cookie: 'a=1', host: base.slice('http://'.length) })
  }
})

test('with the pages off only the API and the twins are there', async t => {
  const { app, upstream } = await startCentral()
  const { web, base } = await startWeb(upstream, false)
  t.teardown(() => Promise.all([app.close(), web.stop()]))
  t.is((await fetch(`${base}/faults`)).status, 404)
  t.is((await fetch(`${base}/api/health`)).status, 200)
})

test('a stream comes through as it comes, and central hears when its reader is gone', async t => {
  const app = fastify()
  const { promise: gone, resolve } = Promise.withResolvers<void>()
  app.get('/api/fdd/runs/r/events', (_request, reply) => {
    const events = new PassThrough()
    events.once('close', resolve)
    events.write('event: progress\n\n')
    return reply.type('text/event-stream').send(events)
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { web, base } = await startWeb(`127.0.0.1:${(app.server.address() as AddressInfo).port}`)
  t.teardown(() => Promise.all([app.close(), web.stop()]))
  const reader = new AbortController()
  const answer = await fetch(`${base}/api/fdd/runs/r/events`, { signal: reader.signal })
  const { value } = await answer.body!.getReader().read()
  t.is(new TextDecoder().decode(value), 'event: progress\n\n')
  reader.abort()
  await gone
  t.pass()
})

test('web starts before central, answers 502 with the reason, and works once central is there', async t => {
  const port = await freePort()
  const { web, base } = await startWeb(`127.0.0.1:${port}`)
  t.teardown(() => web.stop())
  const early = await fetch(`${base}/api/health`)
  t.is(early.status, 502)
  t.regex(((await early.json()) as { detail: string }).detail, new RegExp(`127.0.0.1:${port} does not answer`))
  const { app } = await startCentral(port)
  t.teardown(() => app.close())
  t.is((await fetch(`${base}/api/health`)).status, 200)
})

test('wrong configuration ends the start with all complaints and exit code 78', async t => {
  const env = { ...process.env, SERVICE_WEB_PORT: 'http', SERVICE_CENTRAL_UPSTREAM: 'http://central:8080' }
  const child = spawn(process.execPath, ['hub/web/main.ts', '--loud'], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', data => (said += data))
  const [code] = await once(child, 'close')
  t.is(code, 78)
  for (const complaint of [/SERVICE_WEB_PORT/, /SERVICE_CENTRAL_UPSTREAM/, /--loud/]) t.regex(said, complaint)
})
