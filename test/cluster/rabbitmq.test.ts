import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import test, { type TestFn } from 'ava'
import { type BrokerBench, brokerConformance, enter } from '../conformance/broker.ts'
import { brokerAuthority } from '../support/brokers/broker-authority.ts'
import { startRabbitmq } from '../support/brokers/rabbitmq.ts'

const dir = mkdtempSync(join(tmpdir(), 'plenum-rabbitmq-'))
let authority: Awaited<ReturnType<typeof brokerAuthority>>
let node: Awaited<ReturnType<typeof startRabbitmq>>
const bench = (): BrokerBench => ({ ...authority, port: node.port })

test.before(async () => {
  authority = await brokerAuthority(dir)
  node = await startRabbitmq(dir)
})
test.after.always(async () => {
  await node?.stop()
  rmSync(dir, { recursive: true })
})

// A node takes a quarter of a minute to start, so that all tests share one, in turn.
brokerConformance(test.serial as TestFn, 'RabbitMQ', { refusesFilters: true, publishes: 4 }, async () => bench())

test.serial('RabbitMQ: no certificate takes over the session of another client, and a revoked one opens none', async t => {
  const central = await enter(bench(), 'central:*')
  const thief = new Map([['central:*', authority.pairs.get('edge:A:e1')!]])
  await t.throwsAsync(enter({ ...bench(), pairs: thief }, 'central:*'), { message: /Not authorized|Connection refused/ })
  t.true(central.connected)

  const edge = await enter(bench(), 'edge:A:e2')
  await edge.endAsync()
  await authority.pki.revoke((await authority.pki.list()).find(({ cn }) => cn === 'edge:A:e2')!.serial)
  const isRefused = () =>
    enter(bench(), 'edge:A:e2').then(
      client => client.endAsync(true).then(() => false),
      () => true,
    )
  while (!(await isRefused())) await setTimeout(100)
  t.true(central.connected)
  await central.endAsync(true)
})
