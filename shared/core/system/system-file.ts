/** `system.json`: networks, clock and serial ports of an appliance whose operating system is ours. */
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const strict = { additionalProperties: false }
const OCTET = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)'
const IPV4 = `(?:${OCTET}\\.){3}${OCTET}`
const Address = Type.String({ pattern: `^${IPV4}$`, description: 'IPv4 address' })
const Prefix = Type.String({
  pattern: `^${IPV4}/(?:[12]?\\d|3[0-2])$`,
  description: 'IPv4 address with its prefix, 192.168.10.5/24',
})
const Port = Type.Integer({ minimum: 1, maximum: 65_535 })

const NetworkFile = Type.Object(
  {
    interface: Type.String({ pattern: '^[a-z][a-z0-9]{0,14}$', description: 'Network interface, eth0 is the first' }),
    address: Type.Optional(Prefix),
    gateway: Type.Optional(Address),
    name_servers: Type.Optional(Type.Array(Address, { maxItems: 3 })),
  },
  { description: 'Without an address the network is asked for one (DHCP)', ...strict },
)

const SystemFile = Type.Object(
  {
    uplink: NetworkFile,
    /** Without it the uplink is also the network of the controllers. */
    ot: Type.Optional(NetworkFile),
    time_servers: Type.Optional(Type.Array(Type.String({ pattern: '^[A-Za-z0-9.:-]{1,253}$' }), { maxItems: 4 })),
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
export function readSystem(text: string): { ok: true; system: SystemSettings } | { ok: false; complaints: string[] } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { ok: false, complaints: [`is no JSON: ${String(error)}`] }
  }
  if (!Value.Check(SystemFile, value)) {
    const errors = [...Value.Errors(SystemFile, value)].map(({ path, message }) => `${path || '/'}: ${message}`)
    return { ok: false, complaints: [...new Set(errors)] }
  }
  const complaints = complainOf(value)
  return complaints.length > 0 ? { ok: false, complaints } : { ok: true, system: value }
}

function complainOf({ uplink, ot }: SystemSettings): string[] {
  const complaints: string[] = []
  if (ot?.interface === uplink.interface)
    complaints.push('/ot/interface: is the one of /uplink; leave /ot out when there is one network')
  if (ot?.gateway !== undefined) complaints.push('/ot/gateway: the network of the controllers has no way out')
  if (uplink.gateway !== undefined && uplink.address === undefined) complaints.push('/uplink/gateway: needs /uplink/address')
  return complaints
}
