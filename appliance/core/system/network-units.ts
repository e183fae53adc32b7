/** Configuration of systemd's network, as files of text, from `system.json`. */
import type { NetworkSettings, SystemSettings } from '#shared/core/system/system-file.ts'

type UnitFile = { name: string; text: string }

/** @returns files for `/run/systemd/network` and `/run/systemd/timesyncd.conf.d` by their path below `/run/systemd` */
export function networkUnits({ uplink, ot, time_servers }: SystemSettings): UnitFile[] {
  const units = [{ name: 'network/10-uplink.network', text: networkUnit(uplink, { isUplink: true }) }]
  if (ot) units.push({ name: 'network/20-ot.network', text: networkUnit(ot, { isUplink: false }) })
  if (time_servers?.length)
    units.push({ name: 'timesyncd.conf.d/plenum.conf', text: section('Time', [['NTP', time_servers.join(' ')]]) })
  return units
}

function networkUnit(
  { interface: name, address, gateway, name_servers }: NetworkSettings,
  { isUplink }: { isUplink: boolean },
): string {
  const hasDhcp = address === undefined
  const network: Lines = [
    ['DHCP', hasDhcp ? 'ipv4' : 'no'],
    ['LinkLocalAddressing', hasDhcp ? 'ipv4-fallback' : 'no'],
    ['IPv6AcceptRA', 'no'],
    ['MulticastDNS', isUplink ? 'yes' : 'no'],
    ['IPv4Forwarding', 'no'],
  ]
  if (address !== undefined) network.push(['Address', address])
  if (gateway !== undefined) network.push(['Gateway', gateway])
  for (const server of name_servers ?? []) network.push(['DNS', server])
  // Controllers' networks offer routes and name servers that lead nowhere.
  const onlyAddress: Lines = isUplink
    ? []
    : [
        ['UseRoutes', 'no'],
        ['UseGateway', 'no'],
        ['UseDNS', 'no'],
        ['UseNTP', 'no'],
      ]
  const parts = [section('Match', [['Name', name]]), section('Link', [['RequiredForOnline', 'no']]), section('Network', network)]
  if (hasDhcp) parts.push(section('DHCPv4', [['ClientIdentifier', 'mac'], ...onlyAddress]))
  return parts.join('\n')
}

type Lines = [name: string, value: string][]
const section = (title: string, lines: Lines): string =>
  `[${title}]\n${lines.map(([name, value]) => `${name}=${value}\n`).join('')}`
