/** The address of a BACnet device as text, and IPv4 subnets. */
import { PORT_MAX } from '../../../core/catalogue/driver-definition.ts'
import { BACNET_PORT, type DeviceAddress } from './discovery/discovery.ts'

const NETWORK_MAX = 65_534
const FORM = /^(\d{1,3}(?:\.\d{1,3}){3})(?::(\d{1,5}))?(?:\s+network\s+(\d{1,5})\s+mac\s+((?:[0-9a-f]{2}){1,7}))?$/i

/** @returns `10.0.0.5`, `10.0.0.5:47809`, `10.0.0.5 network 7 mac 0a` */
export function formatAddress({ host, port = BACNET_PORT, network, mac }: Partial<DeviceAddress> & { host: string }): string {
  const at = port === BACNET_PORT ? host : `${host}:${port}`
  return network === undefined || mac === undefined ? at : `${at} network ${network} mac ${mac}`
}

/** @returns undefined when the text is not an address */
export function parseAddress(text: string): DeviceAddress | undefined {
  const [, host = '', portText, networkText, mac] = FORM.exec(text.trim()) ?? []
  const port = Number(portText ?? BACNET_PORT)
  if (!host || host.split('.').some(part => Number(part) > 255) || port < 1 || port > PORT_MAX) return undefined
  if (networkText === undefined || mac === undefined) return { host, port }
  const network = Number(networkText)
  return network < 1 || network > NETWORK_MAX ? undefined : { host, port, network, mac: mac.toLowerCase() }
}

/** The form of an address, for forms and messages. */
export const ADDRESS_FORM = '10.0.0.5, 10.0.0.5:47809 or, behind a router, 10.0.0.5 network 7 mac 0a'

const wordOf = (address: string): number => address.split('.').reduce((word, part) => word * 256 + Number(part), 0) >>> 0

const addressOf = (word: number): string => [24, 16, 8, 0].map(shift => (word >>> shift) & 0xff).join('.')

/** @returns whether both addresses are on one subnet; all three dotted decimal */
export const isSameSubnet = (a: string, b: string, netmask: string): boolean => ((wordOf(a) ^ wordOf(b)) & wordOf(netmask)) === 0

/** @returns the broadcast address of the subnet; undefined when the subnet is this address alone */
export function broadcastOf(address: string, netmask: string): string | undefined {
  const hosts = ~wordOf(netmask)
  return hosts === 0 || hosts === 1 ? undefined : addressOf((wordOf(address) | hosts) >>> 0)
}
