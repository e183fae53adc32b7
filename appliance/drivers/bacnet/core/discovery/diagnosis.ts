/** Explains why a discovery found nothing or few devices: the facts, and what to check next. */
import { countOf } from '#shared/core/number-text.ts'
import { BACNET_PORT, type Discovery } from './discovery.ts'
import { isSameSubnet } from '../address.ts'

/** One IPv4 address of the machine. */
export type MachineAddress = { name: string; address: string; netmask: string }
/** Datagrams of all BACnet traffic of the process while the discovery ran. */
type Datagrams = { sent: number; received: number; malformed: number; unmatched: number; unconfirmed: number }
/** A local address of BACnet/IP, and its traffic. */
export type BoundAddress = Datagrams & {
  address: string
  port: number
  broadcast_addresses: string[]
  /** Why broadcasts of its network cannot be received; null when they can. */
  deafness: string | null
}
/** The broadcast manager (BBMD), when one is configured. */
export type Manager = { host: string; port: number; registered: boolean; error: string | null }

/** Facts about process and machine at the end of the discovery. */
export type NetworkFacts = {
  bind: { address: string; port: number }
  /** Why the port could not be opened; null when it was opened. */
  error: string | null
  /** The process that uses the port; null when it is not visible. */
  holder: string | null
  machine: MachineAddress[]
  speaking: BoundAddress[]
  manager: Manager | null
}

export type Diagnosis = NetworkFacts & {
  calls_sent: number
  i_ams: Discovery['i_ams'] & { ignored: number }
  /** Most likely first; empty when devices were found and nothing is odd. */
  next_steps: string[]
}

const ANY = '0.0.0.0'
const PATIENT_SECS = 10

/** @returns the report on a discovery that has ended */
export function diagnose(discovery: Discovery, facts: NetworkFacts): Diagnosis {
  const ignored = discovery.ignored.reduce((sum, { count }) => sum + count, 0)
  const next_steps =
    facts.error === null
      ? [...stepsOfNetworks(facts, discovery), ...stepsOfManager(facts), ...stepsOfAnswers(facts, discovery)]
      : [stepOfPort(facts, facts.error)]
  return { ...facts, calls_sent: discovery.calls_sent, i_ams: { ...discovery.i_ams, ignored }, next_steps }
}

function stepOfPort({ bind, holder }: NetworkFacts, error: string): string {
  const where = `UDP port ${bind.port} of ${bind.address}`
  return holder === null
    ? `${where} cannot be used (${error}): check that SERVICE_BACNET_BIND is an address of this machine, and that no other program has the port.`
    : `${where} is held by ${holder}: stop it, or give it and this process different addresses.`
}

const isLoopback = ({ address }: { address: string }) => address.startsWith('127.')
/** The default addresses of container bridges. */
const isBridged = ({ address, name }: MachineAddress) =>
  name.startsWith('eth') && isSameSubnet(address, '172.16.0.0', '255.240.0.0')

function stepsOfNetworks({ bind, machine, speaking }: NetworkFacts, { devices, request }: Discovery): string[] {
  if (devices.length) return []
  const outward = machine.filter(one => !isLoopback(one))
  const used = outward.filter(({ address }) => bind.address === ANY || speaking.some(one => one.address === address))
  const isCalled = request.addresses.length > 0
  const steps: string[] = []
  if (!outward.length) steps.push('This machine has no network but itself. In a container, give it the network of the host.')
  else if (
    speaking.length > 0 &&
    speaking.every(isLoopback) &&
    (!isCalled || request.addresses.some(({ host }) => !isLoopback({ address: host })))
  ) {
    steps.push(`${bind.address} reaches this machine alone: set SERVICE_BACNET_BIND to its address on the OT network.`)
  } else if (used.length && used.every(isBridged)) {
    steps.push(
      'The only address looks like a container bridge, which no broadcast leaves: give the container the network of the host.',
    )
  }
  if (!isCalled && used.length > 1) {
    const names = used.map(({ name, address }) => `${name} ${address}`).join(', ')
    steps.push(`This machine is on several networks (${names}): set SERVICE_BACNET_BIND to its address on the OT network.`)
  }
  if (!isCalled)
    for (const { address, deafness } of speaking)
      if (deafness !== null) steps.push(`Broadcasts at ${address} are not heard: ${deafness}.`)
  if (!isCalled && bind.port !== BACNET_PORT) {
    steps.push(`The process uses UDP port ${bind.port}; devices that answer by broadcast answer to ${BACNET_PORT}.`)
  }
  return steps
}

function stepsOfManager({ manager }: NetworkFacts): string[] {
  if (!manager || manager.registered) return []
  return [
    `The broadcast manager ${manager.host}:${manager.port} has not taken us in: ${manager.error ?? 'it has not answered yet'}.`,
  ]
}

function stepsOfAnswers({ speaking }: NetworkFacts, { devices, ignored, i_ams, request, calls_sent }: Discovery): string[] {
  const steps: string[] = []
  const outside = new Set(ignored.filter(({ why }) => why === 'outside').map(({ device_instance }) => device_instance)).size
  if (outside)
    steps.push(`${countOf(outside, 'device')} answered outside the bounds: widen the instances, the network or the addresses.`)
  if (devices.length) return steps
  if (calls_sent === 0) return [...steps, 'No call could be sent; the log says why.']
  const received = speaking.reduce((sum, one) => sum + one.received, 0)
  if (i_ams.heard === 0 && received === 0) {
    steps.push(
      'Nothing came in at all: check the cable, the VLAN and the firewall (UDP, both ways), or call one known device by its address.',
    )
  } else if (i_ams.heard === 0) {
    steps.push(
      'Datagrams come in, but nobody answers this call: check the instances, and that routers and broadcast managers (BBMD) pass it on.',
    )
  }
  if (request.addresses.length) steps.push('The devices at these addresses may be off, or listen on another UDP port.')
  else
    steps.push(
      'Devices on another subnet hear no broadcast: call them by their addresses, or through a broadcast manager (BBMD).',
    )
  if (request.seconds < PATIENT_SECS) steps.push('Slow networks behind routers may need more seconds.')
  return steps
}
