import test from 'ava'
import { DISCOVERY_DEFAULTS, createDiscovery } from '#appliance/drivers/bacnet/core/discovery/discovery.ts'
import { type WhoIsTarget, discover, type DiscoveryWire, type SentWhoIs } from '#appliance/drivers/bacnet/flow/discover.ts'
import { virtualClock } from '../../../../support/virtual-clock.ts'

const HOSTS = ['10.0.0.1', '10.0.0.2'].map(host => ({ host, port: 47_808 }))

/** Runs a discovery in which each Who-Is has the given result. */
async function called(addresses: typeof HOSTS, whoIs: (call: WhoIsTarget) => SentWhoIs[]) {
  const clock = virtualClock(0)
  const discovery = createDiscovery('d', { ...DISCOVERY_DEFAULTS, addresses, seconds: 4 }, 0)
  const wire: DiscoveryWire = {
    whoIs: call => Promise.resolve(whoIs(call)),
    listen: () => () => undefined,
    ask: () => Promise.reject(new Error('nobody answers, so nobody is asked')),
  }
  const end = discover({ wire, clock }, discovery, new AbortController().signal)
  await clock.runTo(60_000)
  await end
  return discovery
}
const sent = (error: string | null, to = HOSTS[0]!): SentWhoIs => ({ from: '10.0.0.9', to, error })
const hostOf = (call: WhoIsTarget) => (call.to === 'host' ? call.host : '')

test('everybody is called twice', async t => {
  const { state, error, calls_sent } = await called(HOSTS, () => [sent(null)])
  t.deepEqual({ state, error, calls_sent }, { state: 'done', error: null, calls_sent: 4 })
})

test('a discovery of which no call can be sent has failed, with the reason', async t => {
  const { state, error, calls_sent, log } = await called(HOSTS, () => [sent('network is unreachable')])
  t.deepEqual({ state, error, calls_sent }, { state: 'failed', error: 'network is unreachable', calls_sent: 0 })
  t.true(log.some(({ text }) => /Who-Is .* cannot be sent: network is unreachable/.test(text)))
})

test('a box without a network to call on says so', async t => {
  const { state, error } = await called([], () => [])
  t.deepEqual([state, error], ['failed', 'there is no network with a broadcast address to call on'])
})

test('a call that can be sent is enough, whichever of them it is', async t => {
  for (const good of HOSTS) {
    const { state, error, calls_sent } = await called(HOSTS, call => [sent(hostOf(call) === good.host ? null : 'no route')])
    t.deepEqual({ state, error, calls_sent }, { state: 'done', error: null, calls_sent: 2 }, good.host)
  }
})

test('answers are waited for as long as was asked for, half of it after each of two calls', async t => {
  const clock = virtualClock(0)
  const request = { ...DISCOVERY_DEFAULTS, addresses: HOSTS.slice(0, 1), seconds: 40, requests_per_second: 10 }
  const discovery = createDiscovery('d', request, 0)
  const calledAt: number[] = []
  const wire: DiscoveryWire = {
    whoIs: () => (calledAt.push(clock.now()), Promise.resolve([sent(null)])),
    listen: () => () => undefined,
    ask: () => Promise.reject(new Error('nobody answers, so nobody is asked')),
  }
  let endedAt: number | undefined
  const end = discover({ wire, clock }, discovery, new AbortController().signal).then(() => (endedAt = clock.now()))
  await clock.runTo(600_000)
  await end
  t.deepEqual([...calledAt, endedAt], [0, 20_000, 40_000])
})
