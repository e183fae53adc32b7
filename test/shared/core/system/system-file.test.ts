import test from 'ava'
import { defaultSystem, readSystem, withWish } from '#shared/core/system/system-file.ts'

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
  [
    'an address without its prefix',
    { uplink: { interface: 'eth0', address: '10.0.0.5' } },
    /^\/uplink\/address: is no IPv4 address with its prefix/,
  ],
  ['an octet beyond 255', { uplink: { interface: 'eth0', address: '10.0.0.256/24' } }, /^\/uplink\/address: /],
  ['a name that would end the line', { uplink: { interface: 'eth0\nDHCP=yes' } }, /^\/uplink\/interface: /],
  ['an unknown field', { ...good, wifi: true }, /^\/wifi: /],
  ['one interface for both', { uplink: { interface: 'eth0' }, ot: { interface: 'eth0' } }, /^\/ot\/interface: /],
  ['a way out of the controllers’ network', { ...good, ot: { interface: 'eth1', gateway: '192.168.10.1' } }, /^\/ot\/gateway: /],
  ['a gateway without an address', { uplink: { interface: 'eth0', gateway: '10.0.0.1' } }, /^\/uplink\/gateway: /],
  ['a gateway that is none', { uplink: { interface: 'eth0', gateway: 'router' } }, /^\/uplink\/gateway: is no IPv4 address, as/],
  ['a time server that is none', { ...good, time_servers: ['a b'] }, /^\/time_servers\/0: is no name and no address/],
  ['a gateway elsewhere', { uplink: { interface: 'eth0', address: '10.0.0.5/24', gateway: '10.0.1.1' } }, /^\/uplink\/gateway: /],
  ['the address of a network', { uplink: { interface: 'eth0', address: '10.0.0.128/25' } }, /^\/uplink\/address: .* no machine/],
  [
    'the address of all machines',
    { uplink: { interface: 'eth0' }, ot: { interface: 'eth1', address: '10.0.255.255/16' } },
    /^\/ot\/address: /,
  ],
  [
    'one network at both interfaces',
    { uplink: { interface: 'eth0', address: '10.0.0.5/16' }, ot: { interface: 'eth1', address: '10.0.3.5/24' } },
    /^\/ot\/address: is in the network of the uplink/,
  ],
  ['a port beyond 65535', { ...good, outbound: [{ network: '10.1.0.0/16', ports: [65_536] }] }, /^\/outbound\/0\/ports\/0: /],
] as const) {
  test(`${what} is refused with its place`, t => {
    const read = readSystem(typeof value === 'string' ? value : JSON.stringify(value))
    t.false(read.ok)
    if (!read.ok) t.regex(read.complaints[0]!, complaint)
  })
}

test('a network of two machines, and of one, may use each of its addresses', t => {
  for (const address of ['10.0.0.4/31', '10.0.0.5/31', '10.0.0.5/32'])
    t.true(readSystem(JSON.stringify({ uplink: { interface: 'eth0', address } })).ok, address)
})

test('a wish changes addresses and time servers, and nothing else', t => {
  const runs = { ...good, usb: false, outbound: [{ network: '10.1.0.0/16', ports: [443] }] }
  const wish = { uplink: { address: '10.9.0.7/24' }, ot: {}, time_servers: ['10.9.0.2'] }
  const system = {
    ...runs,
    uplink: { interface: 'eth0', address: '10.9.0.7/24' },
    ot: { interface: 'eth1' },
    time_servers: ['10.9.0.2'],
  }
  t.deepEqual(withWish(runs, wish), { ok: true, system } as never)
  const uplinkAlone = { uplink: wish.uplink, time_servers: wish.time_servers }
  t.deepEqual(
    withWish(runs, uplinkAlone),
    { ok: true, system: { ...system, ot: good.ot } } as never,
    'a network that is not named stays',
  )
  t.deepEqual(withWish({ uplink: { interface: 'eth0' } }, wish), {
    ok: false,
    complaints: ['/ot: this box has no network of the controllers'],
  })
})
