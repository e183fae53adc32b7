/** `system.json`: networks, clock and serial ports of an appliance whose operating system is ours. */
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value, type ValueError } from '@sinclair/typebox/value'

const strict = { additionalProperties: false }
const OCTET = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)'
const IPV4 = `(?:${OCTET}\\.){3}${OCTET}`
const Address = Type.String({ pattern: `^${IPV4}$`, description: 'IPv4 address' })
const Prefix = Type.String({
  pattern: `^${IPV4}/(?:[12]?\\d|3[0-2])$`,
  description: 'IPv4 address with its prefix, 192.168.10.5/24',
})
const Port = Type.Integer({ minimum: 1, maximum: 65_535 })

const ADDRESSES = {
  address: Type.Optional(Prefix),
  gateway: Type.Optional(Address),
  name_servers: Type.Optional(Type.Array(Address, { maxItems: 3 })),
}
const NetworkFile = Type.Object(
  {
    interface: Type.String({ pattern: '^[a-z][a-z0-9]{0,14}$', description: 'Network interface, eth0 is the first' }),
    ...ADDRESSES,
  },
  { description: 'Without an address the network is asked for one (DHCP)', ...strict },
)
const TimeServers = Type.Array(Type.String({ pattern: '^[A-Za-z0-9.:-]{1,253}$' }), { maxItems: 4 })

const SystemFile = Type.Object(
  {
    uplink: NetworkFile,
    /** Without it the uplink is also the network of the controllers. */
    ot: Type.Optional(NetworkFile),
    time_servers: Type.Optional(TimeServers),
    outbound: Type.Optional(
      Type.Array(Type.Object({ network: Prefix, ports: Type.Array(Port, { minItems: 1, maxItems: 16 }) }, strict), {
        maxItems: 32,
        description: 'Servers beyond the hub that the box may ask, for example Haystack or mail',
      }),
    ),
    hub_port: Type.Optional({
      ...Port,
      description: 'Port of the hub; 8883 when absent. A hub beyond private networks is also in outbound',
    }),
    modbus_ports: Type.Optional(Type.Array(Port, { maxItems: 16, description: 'TCP ports of Modbus units; 502 when absent' })),
    bacnet_ports: Type.Optional(
      Type.Array(Port, { minItems: 1, maxItems: 8, description: 'UDP ports of BACnet/IP; 47808 when absent' }),
    ),
    serial: Type.Optional(Type.Boolean({ description: 'Whether Modbus RTU is read at a serial port' })),
    console: Type.Optional(
      Type.Boolean({
        description: 'Whether the console can set the network back, start the other version, and erase; it can when absent',
      }),
    ),
    usb: Type.Optional(Type.Boolean({ description: 'Whether a USB stick can change the box; it can when absent' })),
  },
  { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'The system of an appliance', ...strict },
)
export type SystemSettings = Static<typeof SystemFile>
export type NetworkSettings = Static<typeof NetworkFile>

/**
 * What the page Network asks for. What the firewall lets out, and who may change the box by stick or console, comes by USB stick alone: a
 * program on the network must not be able to open its own way.
 */
export const NetworkWish = Type.Object(
  {
    uplink: Type.Object(ADDRESSES, strict),
    ot: Type.Optional(Type.Object(ADDRESSES, strict)),
    time_servers: TimeServers,
  },
  strict,
)
export type NetworkWish = Static<typeof NetworkWish>

const LOCAL = /^(?:lo|docker\d+|veth.*|dummy\d+|sit\d+)$/

/**
 * @param interfaces all network interfaces of the machine
 * @returns the first interface towards the page and the hub, by DHCP; the second towards the controllers
 */
export function defaultSystem(interfaces: readonly string[]): SystemSettings {
  const [uplink = 'eth0', ot] = interfaces.filter(name => !LOCAL.test(name)).toSorted()
  return { uplink: { interface: uplink }, ...(ot !== undefined && { ot: { interface: ot } }) }
}

/**
 * Reads the text of `system.json`.
 *
 * @returns the settings, or every complaint with its JSON pointer
 */
export function readSystem(text: string): { ok: true; system: SystemSettings } | Complaints {
  const read = readAs(SystemFile, text)
  if (!read.ok) return read
  const complaints = complainOf(read.value)
  return complaints.length > 0 ? { ok: false, complaints } : { ok: true, system: read.value }
}

type Complaints = { ok: false; complaints: string[] }

/** Reads the text of a wish; complaints are as those of `readSystem`. */
export function readWish(text: string): { ok: true; wish: NetworkWish } | Complaints {
  const read = readAs(NetworkWish, text)
  return read.ok ? { ok: true, wish: read.value } : read
}

function readAs<S extends TSchema>(schema: S, text: string): { ok: true; value: Static<S> } | Complaints {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { ok: false, complaints: [`is no JSON: ${String(error)}`] }
  }
  if (Value.Check(schema, value)) return { ok: true, value }
  const errors = [...Value.Errors(schema, value)].map(error => complaintOf(error))
  return { ok: false, complaints: [...new Set(errors)] }
}

/** @returns the settings with the addresses and time servers that are wished for (a network that is not named stays), or every complaint as `readSystem` has them */
export function withWish(current: SystemSettings, wish: NetworkWish): ReturnType<typeof readSystem> {
  const { uplink, ot } = current
  if (wish.ot !== undefined && ot === undefined)
    return { ok: false, complaints: [at('/ot', 'this box has no network of the controllers')] }
  const system: SystemSettings = {
    ...current,
    uplink: { interface: uplink.interface, ...wish.uplink },
    ...(ot && { ot: wish.ot ? { interface: ot.interface, ...wish.ot } : ot }),
    time_servers: wish.time_servers,
  }
  return readSystem(JSON.stringify(system))
}

function complaintOf({ path, schema, message }: ValueError): string {
  switch (schema['pattern']) {
    case Prefix.pattern:
      return at(path, 'is no IPv4 address with its prefix, as 192.168.10.5/24')
    case Address.pattern:
      return at(path, 'is no IPv4 address, as 192.168.10.1')
    case TimeServers.items.pattern:
      return at(path, 'is no name and no address of a server')
    default:
      return at(path || '/', message)
  }
}

/** A complaint with the JSON pointer of what it is about. */
const at = (place: string, text: string): string => `${place}: ${text}`

function complainOf({ uplink, ot }: SystemSettings): string[] {
  const complaints: string[] = []
  if (ot?.interface === uplink.interface)
    complaints.push(at('/ot/interface', 'is the one of /uplink; leave /ot out when there is one network'))
  if (ot?.gateway !== undefined) complaints.push(at('/ot/gateway', 'the network of the controllers has no way out'))
  if (uplink.gateway !== undefined && uplink.address === undefined)
    complaints.push(at('/uplink/gateway', 'needs an address beside it'))
  if (uplink.address !== undefined && uplink.gateway !== undefined && !isWithin(uplink.gateway, uplink.address))
    complaints.push(at('/uplink/gateway', `${uplink.gateway} is not in the network ${uplink.address}`))
  for (const [name, network] of Object.entries({ uplink, ot }))
    if (network?.address !== undefined && isNoHost(network.address))
      complaints.push(
        at(`/${name}/address`, `${network.address} is the name of a network or of all its machines, and of no machine`),
      )
  if (uplink.address !== undefined && ot?.address !== undefined && isOverlapping(uplink.address, ot.address))
    complaints.push(at('/ot/address', 'is in the network of the uplink, so the box would not know which way to send'))
  return complaints
}

const bitsOf = (address: string): number => address.split('.').reduce((bits, octet) => bits * 256 + Number(octet), 0)
function readPrefix(prefix: string): { first: number; last: number; at: number; length: number } {
  const [address = '', length = ''] = prefix.split('/')
  const size = 2 ** (32 - Number(length))
  const first = Math.floor(bitsOf(address) / size) * size
  return { first, last: first + size - 1, at: bitsOf(address), length: Number(length) }
}

function isWithin(address: string, prefix: string): boolean {
  const { first, last } = readPrefix(prefix)
  return bitsOf(address) >= first && bitsOf(address) <= last
}

/** A network of two addresses has no address of its own. @source RFC 3021 */
function isNoHost(prefix: string): boolean {
  const { first, last, at, length } = readPrefix(prefix)
  return length < 31 && (at === first || at === last)
}

function isOverlapping(a: string, b: string): boolean {
  const [one, other] = [readPrefix(a), readPrefix(b)]
  return one.first <= other.last && other.first <= one.last
}
