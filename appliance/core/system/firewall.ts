/** Rules of nftables from `system.json`: what may come in, what may go out, and nothing from one network to the other. */
import type { SystemSettings } from '#shared/core/system/system-file.ts'

const PAGE = 443
const BACNET = 47_808
const MODBUS = 502
const MQTTS = 8883
const MDNS = 5353

/** Where the firewall lets BACnet/IP through: one network, and its UDP ports. */
export const bacnetWay = ({ uplink, ot, bacnet_ports = [BACNET] }: SystemSettings): { interface: string; ports: number[] } => ({
  interface: (ot ?? uplink).interface,
  ports: bacnet_ports,
})

/** TCP ports at which the firewall lets Modbus out. */
export const modbusPorts = ({ modbus_ports = [MODBUS] }: SystemSettings): readonly number[] => modbus_ports

/** @returns a file for `nft -f`, which replaces all rules at once */
export function firewall(system: SystemSettings): string {
  const { uplink, outbound = [], hub_port = MQTTS } = system
  const [way, modbus] = [bacnetWay(system), modbusPorts(system)]
  const up = `"${uplink.interface}"`
  const field = `"${way.interface}"`
  const bacnet = way.ports.length === 1 ? way.ports[0] : `{ ${way.ports.join(', ')} }`
  const incoming = [
    'ct state established,related accept',
    'ct state invalid drop',
    'iif "lo" accept',
    'icmp type { echo-request, destination-unreachable, time-exceeded, parameter-problem } limit rate 20/second accept',
    // The page's socket is open to many people; one address does not take all of it.
    `iifname ${up} tcp dport ${PAGE} ct state new limit rate over 200/second drop`,
    `iifname ${up} tcp dport ${PAGE} accept`,
    `iifname ${up} ip daddr 224.0.0.251 udp dport ${MDNS} accept`,
    `iifname ${field} udp dport ${bacnet} accept`,
  ]
  const outgoing = [
    'ct state established,related accept',
    'oif "lo" accept',
    'ip protocol icmp accept',
    `oifname ${up} udp dport { 53, 67, 123 } accept`,
    `oifname ${up} tcp dport { 53, ${hub_port} } accept`,
    `oifname ${up} ip daddr 224.0.0.251 udp dport ${MDNS} accept`,
    `oifname ${field} udp dport 67 accept`,
    `oifname ${field} udp dport ${bacnet} accept`,
    // Answers to a device behind another port of the same network.
    `oifname ${field} udp sport ${bacnet} accept`,
    ...(modbus.length > 0 ? [`oifname ${field} tcp dport { ${modbus.join(', ')} } accept`] : []),
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
