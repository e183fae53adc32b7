/** Which part of an IPv4 address is the network, and who is on it. */

const wordOf = (address: string): number => address.split('.').reduce((word, part) => word * 256 + Number(part), 0) >>> 0

const addressOf = (word: number): string => [24, 16, 8, 0].map(shift => (word >>> shift) & 0xff).join('.')

/** @returns whether both addresses are on one subnet; all three dotted decimal */
export const isSameSubnet = (a: string, b: string, netmask: string): boolean => ((wordOf(a) ^ wordOf(b)) & wordOf(netmask)) === 0

/** @returns the address that everybody on the subnet hears; undefined where the subnet is this address alone */
export function broadcastOf(address: string, netmask: string): string | undefined {
  const hosts = ~wordOf(netmask)
  return hosts === 0 || hosts === 1 ? undefined : addressOf((wordOf(address) | hosts) >>> 0)
}
