import test from 'ava'
import { networkOf } from '#shared/core/auth/network.ts'

for (const [address, network] of [
  ['10.0.0.1', '10.0.0.1'],
  ['127.0.0.2', '127.0.0.2'],
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['::FFFF:0a00:1', '10.0.0.1'],
  ['0:0:0:0:0:ffff:a00:0001', '10.0.0.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff::1', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0003::1', '2001:db8:1:3::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8::1.2.3.4', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '::1'],
  ['::2', '0:0:0:0::/64'],
  ['203.0.113.9:51234', '203.0.113.9'],
  ['[2001:db8::1]:443', '2001:db8:0:0::/64'],
  ['[2001:db8::1]', '2001:db8:0:0::/64'],
  ['', 'unknown'],
  ['unknown', 'unknown'],
  ['10.0.0.256', 'unknown'],
  ['10.0.0', 'unknown'],
  ['1:2:3:4:5:6:7', 'unknown'],
  ['1:2:3:4:5:6:7:8:9', 'unknown'],
  ['1::2::3', 'unknown'],
  ['1:2:3:4:5:6:7::8', 'unknown'],
  ['12345::', 'unknown'],
  ['1.2.3.4::', 'unknown'],
] as const) {
  test(`the address "${address}" belongs to the network ${network}`, t => t.is(networkOf(address), network))
}

test('an address that is not known belongs to the network unknown', t => t.is(networkOf(undefined), 'unknown'))
