/** Rules of nftables from `system.json`: what may come in, what may go out, and nothing from one network to the other. */
import type { SystemSettings } from '#shared/core/system/system-file.ts'

const PAGE = 443
const BACNET = 47_808
const MODBUS = 502
const MQTTS = 8883
const MDNS = 5353

/** @returns a file for `nft -f`, which replaces all rules at once */
export function firewall({ uplink, ot, outbound = [], hub_port = MQTTS, modbus_ports = [MODBUS] }: SystemSettings): string {
  const up = `"${uplink.interface}"`
  const field = `"${(ot ?? uplink).interface}"`
  const incoming = [
    'ct state established,related accept',
    'ct state invalid drop',
    'iif "lo" accept',
    'icmp type { echo-request, destination-unreachable, time-exceeded, parameter-problem } limit rate 20/second accept',
    // The page's socket is open to many people; one address does not take all of it.
    `iifname ${up} tcp dport ${PAGE} ct state new limit rate over 200/second drop`,
    `iifname ${up} tcp dport ${PAGE} accept`,
    `iifname ${up} ip daddr 224.0.0.251 udp dport ${MDNS} accept`,
    `iifname ${field} udp dport ${BACNET} accept`,
  ]
  const outgoing = [
    'ct state established,related accept',
    'oif "lo" accept',
    'ip protocol icmp accept',
    `oifname ${up} udp dport { 53, 67, 123 } accept`,
    `oifname ${up} tcp dport { 53, ${hub_port} } accept`,
    `oifname ${up} ip daddr 224.0.0.251 udp dport ${MDNS} accept`,
    `oifname ${field} udp dport 67 accept`,
    `oifname ${field} udp dport ${BACNET} accept`,
    // Answers to a device behind another port of the same network.
    `oifname ${field} udp sport ${BACNET} accept`,
    ...(modbus_ports.length > 0 ? [`oifname ${field} tcp dport { ${modbus_ports.join(', ')} } accept`] : []),
    ...outbound.map(({ network, ports }) => `ip daddr ${network} tcp dport { ${ports.join(', ')} } accept`),
  ]
  return [
    'flush ruleset',
    'table inet plenum {',
    chain('input', 'drop', incoming),
    chain('forward', 'drop', []),
    chain('output', 'drop', outgoing),
    '}',
    '',
  ].join('\n')
}

const chain = (hook: string, policy: string, rules: readonly string[]): string =>
  [
    `  chain ${hook} {`,
    `    type filter hook ${hook} priority filter; policy ${policy};`,
    ...rules.map(rule => `    ${rule}`),
    '  }',
  ].join('\n')
