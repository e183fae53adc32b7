import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import test from 'ava'
import { bacnetWay, firewall } from '#appliance/core/system/firewall.ts'
import { networkUnits } from '#appliance/core/system/network-units.ts'
import { serviceSettings } from '#appliance/core/system/service-settings.ts'
import type { SystemSettings } from '#shared/core/system/system-file.ts'
import { testWhere } from '../../../support/optional.ts'

const two: SystemSettings = {
  uplink: { interface: 'eth0', address: '10.0.0.5/24', gateway: '10.0.0.1', name_servers: ['10.0.0.2'] },
  ot: { interface: 'eth1' },
  time_servers: ['10.0.0.3'],
  outbound: [{ network: '10.9.0.0/16', ports: [443, 8443] }],
}
const one: SystemSettings = { uplink: { interface: 'eth0' } }

test('a fixed address, its gateway and name server are in the uplink’s unit, and no DHCP', t => {
  const [uplink] = networkUnits(two)
  t.is(uplink!.name, 'network/10-uplink.network')
  for (const line of ['Name=eth0', 'DHCP=no', 'Address=10.0.0.5/24', 'Gateway=10.0.0.1', 'DNS=10.0.0.2']) {
    t.true(uplink!.text.split('\n').includes(line), line)
  }
})

test('the network of the controllers gives an address by DHCP and nothing else', t => {
  const ot = networkUnits(two)[1]!
  for (const line of ['DHCP=ipv4', 'UseRoutes=no', 'UseGateway=no', 'UseDNS=no', 'MulticastDNS=no']) {
    t.true(ot.text.split('\n').includes(line), line)
  }
  t.deepEqual(
    networkUnits(one).map(({ name }) => name),
    ['network/10-uplink.network'],
  )
})

test('time servers are the clock’s', t => t.true(networkUnits(two).at(-1)!.text.includes('NTP=10.0.0.3\n')))

/** Lines of one chain. */
const chain = (rules: string, name: string): string =>
  new RegExp(`chain ${name} \\{([^}]*(?:\\{[^}]*\\}[^}]*)*?)\\n  \\}`).exec(rules)![1]!

test('nothing is forwarded, and what no rule names is dropped in both directions', t => {
  const rules = firewall(two)
  t.regex(rules, /^flush ruleset\n/)
  for (const name of ['input', 'forward', 'output']) t.regex(chain(rules, name), /policy drop;/)
  t.notRegex(chain(rules, 'forward'), /accept/)
})

test('the page is open on the uplink alone, BACnet on the network of the controllers alone', t => {
  const input = chain(firewall(two), 'input')
  t.regex(input, /iifname "eth0" tcp dport 443 accept/)
  t.regex(input, /iifname "eth1" udp dport 47808 accept/)
  t.notRegex(input, /iifname "eth1" tcp|iifname "eth0" udp dport 47808/)
  t.regex(chain(firewall(one), 'input'), /iifname "eth0" udp dport 47808 accept/)
})

test('BACnet passes at the ports that the file names, and at no other', t => {
  const rules = firewall({ ...two, bacnet_ports: [47808, 47809] })
  t.regex(chain(rules, 'input'), /iifname "eth1" udp dport \{ 47808, 47809 \} accept/)
  for (const way of ['dport', 'sport'])
    t.regex(chain(rules, 'output'), new RegExp(`oifname "eth1" udp ${way} \\{ 47808, 47809 \\} accept`))
  t.deepEqual(bacnetWay(one), { interface: 'eth0', ports: [47808] })
  t.deepEqual(bacnetWay({ ...two, bacnet_ports: [47809] }), { interface: 'eth1', ports: [47809] })
})

test('the box calls the hub, the servers of its file, and controllers', t => {
  const output = chain(firewall({ ...two, hub_port: 8884, modbus_ports: [502, 1502] }), 'output')
  t.regex(output, /oifname "eth0" tcp dport \{ 53, 8884 \} accept/)
  t.regex(output, /ip daddr 10\.9\.0\.0\/16 tcp dport \{ 443, 8443 \} accept/)
  t.regex(output, /oifname "eth1" tcp dport \{ 502, 1502 \} accept/)
  t.regex(chain(firewall({ ...one, modbus_ports: [502] }), 'output'), /oifname "eth0" tcp dport \{ 502 \} accept/)
  t.notRegex(chain(firewall({ ...one, modbus_ports: [] }), 'output'), /502/)
})

test('the unit of the appliance lets through what the file names beyond private networks, and a serial port', t => {
  t.deepEqual(serviceSettings(one), [])
  const [file, ...more] = serviceSettings({ ...one, serial: true, outbound: [{ network: '203.0.113.7/32', ports: [8883] }] })
  t.deepEqual(more, [])
  t.is(file!.name, 'system/plenum.service.d/system.conf')
  t.regex(file!.text, /^\[Service\]\nIPAddressAllow=203\.0\.113\.7\/32\nPrivateDevices=no\n/)
  t.regex(file!.text, /^DeviceAllow=char-ttyUSB rw$/m)
})

const NFT = '/usr/sbin/nft'
testWhere(existsSync(NFT) && process.getuid?.() === 0)('nftables takes the rules', t => {
  for (const system of [one, two]) t.notThrows(() => execFileSync(NFT, ['-c', '-f', '-'], { input: firewall(system) }))
})
