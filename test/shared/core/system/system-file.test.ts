import test from 'ava'
import { defaultSystem, readSystem } from '#shared/core/system/system-file.ts'

test('without a file the first interface is the uplink and the second the network of the controllers', t => {
  t.deepEqual(defaultSystem(['lo', 'eth1', 'eth0', 'sit0']), { uplink: { interface: 'eth0' }, ot: { interface: 'eth1' } })
  t.deepEqual(defaultSystem(['lo', 'end0']), { uplink: { interface: 'end0' } })
  t.deepEqual(defaultSystem(['lo']), { uplink: { interface: 'eth0' } })
})

const good = { uplink: { interface: 'eth0' }, ot: { interface: 'eth1', address: '192.168.10.5/24' } }
test('a whole file is read', t => t.deepEqual(readSystem(JSON.stringify(good)), { ok: true, system: good } as never))

for (const [what, value, complaint] of [
  ['no JSON', '{"uplink"', /^is no JSON/],
  ['no uplink', {}, /^\/uplink: /],
  ['an address without its prefix', { uplink: { interface: 'eth0', address: '10.0.0.5' } }, /^\/uplink\/address: /],
  ['an octet beyond 255', { uplink: { interface: 'eth0', address: '10.0.0.256/24' } }, /^\/uplink\/address: /],
  ['a name that would end the line', { uplink: { interface: 'eth0\nDHCP=yes' } }, /^\/uplink\/interface: /],
  ['an unknown field', { ...good, wifi: true }, /^\/wifi: /],
  ['one interface for both', { uplink: { interface: 'eth0' }, ot: { interface: 'eth0' } }, /^\/ot\/interface: /],
  ['a way out of the controllers’ network', { ...good, ot: { interface: 'eth1', gateway: '192.168.10.1' } }, /^\/ot\/gateway: /],
  ['a gateway without an address', { uplink: { interface: 'eth0', gateway: '10.0.0.1' } }, /^\/uplink\/gateway: /],
  ['a port beyond 65535', { ...good, outbound: [{ network: '10.1.0.0/16', ports: [65_536] }] }, /^\/outbound\/0\/ports\/0: /],
] as const) {
  test(`${what} is refused with its place`, t => {
    const read = readSystem(typeof value === 'string' ? value : JSON.stringify(value))
    t.false(read.ok)
    if (!read.ok) t.regex(read.complaints[0]!, complaint)
  })
}
