/** A central whose clock the test sets, and a receiver of its webhooks. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'
import { wallClock } from '#shared/node/clock.ts'
import { BUILDING, EQUIPMENT, NOW, POINTS } from '../page-fixture.ts'
import { startCentral, type TestCentral } from './central-site.ts'

export type Received = { headers: IncomingHttpHeaders; text: string; body: any }

/** A receiver of webhooks that answers with `status`. */
export async function receiver(t: ExecutionContext) {
  const received: Received[] = []
  const answer = { status: 200 }
  const server = createServer(async (request, response) => {
    const text = (await request.toArray()).join('')
    received.push({ headers: request.headers, text, body: JSON.parse(text) })
    response.writeHead(answer.status, answer.status === 302 ? { location: '/elsewhere' } : {}).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise<unknown>(resolve => server.close(resolve)))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received, answer }
}

/** A site whose clock the test sets. `round` lets time pass and runs one round. */
export async function siteAt(t: ExecutionContext, given: Parameters<typeof startCentral>[0] = {}) {
  let now = NOW
  const site = await startCentral({ clock: { now: () => now, sleep: wallClock.sleep }, pages: true, ...given })
  t.teardown(site.close)
  const { stores, context } = site.central
  stores.model.put({ building: BUILDING, equipment: EQUIPMENT, points: POINTS })
  const round = async (passedMs = 0) => {
    now += passedMs
    await context.alertService.round()
  }
  await round()
  return { site, round, stores }
}

export const addRoute = async (site: TestCentral, given: object) => {
  const answer = await site.call('admin', 'POST', '/api/alerts/routes', { name: 'Plant team', ...given })
  return answer.body as { route_id: string; secret: string }
}
