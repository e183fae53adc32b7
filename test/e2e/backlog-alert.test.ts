/** An edge whose messages wait longer than an hour while its session is open: a hub tells of it by webhook. */
import { join } from 'node:path'
import { MqttPublisher } from '#appliance/services/mqtt-publisher.ts'
import { openOutbox } from '#appliance/sinks/outbox.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { wallClock } from '#shared/node/clock.ts'
import { canFakeClock, openClock } from '../support/faked-clock.ts'
import { until } from '../support/folders.ts'
import { finding } from '../support/messages.ts'
import { testWhere } from '../support/optional.ts'
import { receiver } from '../support/sites/alert-site.ts'
import { edgeSelf, kitsOf, makeAuthority, reading, silent } from '../support/sites/transport-site.ts'
import { AUTH, loopback, program } from './field-site.ts'
import { freeBase, temporaryFolder } from './run-start.ts'

const ADMIN = 'admin-of-the-test'
/** The smallest that a hub takes for SERVICE_EDGE_MAX_FINDINGS. */
const FINDINGS_MAX = 1000
/** A round of alerts comes each minute. */
const ROUND_MS = MINUTE
/** A hub says nothing of edges for a quarter of an hour after its start. Less than ten minutes at a time are no clock that was set. */
const STEP_MS = 8 * MINUTE
const STEPS_MAX = 8

testWhere(canFakeClock())('an edge that sends late over an open session reaches the receiver of alerts', async t => {
  t.timeout(900_000)
  const [dir, base] = [await temporaryFolder(t), await freeBase(2)]
  const { url, received } = await receiver(t)
  const certs = join(dir, 'pki')
  const pki = await makeAuthority(certs)
  const clock = openClock(join(dir, 'clock'))
  const hub = program(t, 'hub', {
    main: 'hub/main.ts',
    url: loopback(base),
    logs: dir,
    env: {
      ...{ ...AUTH, ...clock.env, SERVICE_ADMIN_PASSWORD: ADMIN, SERVICE_EDGE_MAX_FINDINGS: String(FINDINGS_MAX) },
      ...{ SERVICE_CENTRAL_BIND: '127.0.0.1', SERVICE_CENTRAL_PORT: String(base), SERVICE_WORKSPACE: join(dir, 'hub') },
      ...{ SERVICE_MQTT_BIND: '127.0.0.1', SERVICE_MQTT_PORT: String(base + 1), SERVICE_MQTT_CERT_DIR: certs },
    },
  })
  await hub.start()
  const post = async (path: string, body: object, token?: string) => {
    const headers = { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) }
    const answer = await fetch(hub.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    t.is(answer.status, 200, path)
    return (await answer.json()) as { token: string }
  }
  const { token } = await post('/api/auth/login', { username: 'admin', password: ADMIN })
  await post('/api/alerts/routes', { name: 'Plant team', webhook_url: url }, token)

  // What waits was written two hours ago, when the edge had no session.
  const outbox = await openOutbox({
    ...{ dir: join(dir, 'outbox'), maxBytes: 2 ** 26, to: ['hub'], protocolOf: () => 'bacnet', log: silent },
    clock: { ...wallClock, now: () => Date.now() - 2 * HOUR },
  })
  const findings = Array.from({ length: FINDINGS_MAX + 1 }, (_, n) => ({ ...finding, finding_id: `f-${n}` }))
  await outbox.putFindings(findings.slice(0, FINDINGS_MAX))
  await outbox.putFindings(findings.slice(FINDINGS_MAX))
  for (let n = 0; n < 3; n++) await outbox.write([reading(n)])
  const kit = await pki.kit({ site_id: 'A', edge_id: 'e1', broker_host: '127.0.0.1', broker_port: base + 1 })
  const edge = new MqttPublisher({ outbox, kits: kitsOf(kit, dir), edge: edgeSelf('A', 'e1'), clock: wallClock, log: silent })
  await edge.start()
  t.teardown(() => edge.stop().then(outbox.close))
  await until(() => edge.state().backlog === 4, 'one finding and what is behind it wait', 2 * ROUND_MS)
  t.is(edge.state().state, 'up')

  const alert = () => received.map(({ body }) => body.alert).find(({ kind }) => kind === 'backlog')
  for (let step = 1; step <= STEPS_MAX && !alert(); step++) {
    clock.set(step * STEP_MS)
    const end = Date.now() + ROUND_MS
    await until(() => alert() !== undefined || Date.now() > end, 'a round', 2 * ROUND_MS)
  }
  t.like(alert(), { title: 'Edge A/e1 sends late', path: '/edges/e1?site_id=A' })
  t.regex(alert().detail, /^4 messages wait to be sent, the oldest for 2 h/)
  t.like(edge.state(), { state: 'up', backlog: 4 })
})
