/** Where this box sends and receives BACnet/IP: what is in effect, where that comes from, and another value for the next start. */
import { createSocket } from 'node:dgram'
import { BACNET_VARIABLES } from '../../../env.ts'
import { type Effective, readEnv } from '#shared/core/env.ts'
import { type DataError, Problem } from '#shared/core/problem.ts'
import { changeSettings, settingIn } from '../../../store/settings-lines.ts'
import { errorText } from '#shared/core/error-text.ts'
import type { MachineAddress } from '../core/discovery/diagnosis.ts'
import { ipv4Addresses } from '../discovery/discovery-wire.ts'
import { findPortOwner } from '../port-owner.ts'

/** `bbmd`: `10.0.0.1` or `10.0.0.1:47808`; empty for none. */
export type BacnetWish = { addresses: string[]; port: number; bbmd: string; bbmd_ttl_secs: number }
type Name = keyof typeof FIELDS
/** The variables that a page changes, and the fields of a wish. */
const FIELDS = {
  SERVICE_BACNET_BIND: '/addresses',
  SERVICE_BACNET_PORT: '/port',
  SERVICE_BACNET_BBMD: '/bbmd',
  SERVICE_BACNET_BBMD_TTL_SECS: '/bbmd_ttl_secs',
} as const
const NAMES = Object.keys(FIELDS) as Name[]
const EVERYWHERE = '0.0.0.0'

type BacnetSetting = Effective & {
  /** Whether something else than the settings file decides, so that the page cannot change it. */
  is_decided_elsewhere: boolean
}
export type BacnetSettings = {
  current(): { settings: BacnetSetting[]; wish: BacnetWish; machine: MachineAddress[]; is_restarting: boolean }
  /**
   * Checks and stores what counts from the next start, and begins that.
   *
   * @throws Problem invalid that names each wrong value; conflict where the environment decides, or there is no settings file
   */
  change(wish: BacnetWish): Promise<void>
  /** Ends the process, which its supervisor starts again; called once the answer is sent. */
  restart(): void
}

/**
 * @param effective settings as the process started with them
 * @param file of NAME=value lines; undefined where settings are given in another way
 */
export function bacnetSettings(options: {
  effective: readonly Effective[]
  file: string | undefined
  restart: () => void
  machine?: () => MachineAddress[]
  /** Where the firewall of the box lets BACnet through; undefined where it is not ours to know. */
  way?: () => Way | undefined
}): BacnetSettings {
  const { effective, file, restart, machine = ipv4Addresses, way = () => undefined } = options
  let isRestarting = false
  const settings = (): BacnetSetting[] =>
    NAMES.map(name => {
      const one = effective.find(each => each.name === name)!
      const isFree = one.source === 'settings file' || one.source === 'default'
      const isFromFile = isFree || (file !== undefined && settingIn(file, name) === one.value)
      return { ...one, is_decided_elsewhere: !isFromFile }
    })
  return {
    current: () => ({ settings: settings(), wish: wishOf(effective), machine: machine(), is_restarting: isRestarting }),
    async change(wish) {
      if (file === undefined)
        throw new Problem(
          'conflict',
          'This program has no settings file: set SERVICE_BACNET_BIND and the others where it is started',
        )
      const values = valuesOf(wish)
      for (const { name, value, is_decided_elsewhere } of settings()) {
        if (is_decided_elsewhere && values[name as Name] !== value)
          throw new Problem('conflict', `${name} is set in the environment of this program: change it there`)
      }
      const errors = [...wrongValues(values), ...blockedPlaces(wish, machine(), way()), ...(await wrongPlaces(wish, machine()))]
      if (errors.length > 0) throw new Problem('invalid', errors[0]!.message, errors)
      const fixed = new Set(settings().flatMap(one => (one.is_decided_elsewhere ? one.name : [])))
      const own = NAMES.filter(name => !fixed.has(name))
      const changed = own.map(name => [name, values[name] === defaultOf(name) ? undefined : values[name]])
      await changeSettings(file, Object.fromEntries(changed))
      isRestarting = true
    },
    restart,
  }
}

function wishOf(effective: readonly Effective[]): BacnetWish {
  const of = (name: Name) => effective.find(each => each.name === name)?.value ?? ''
  return {
    addresses: of('SERVICE_BACNET_BIND')
      .split(',')
      .map(part => part.trim()),
    port: Number(of('SERVICE_BACNET_PORT')),
    bbmd: of('SERVICE_BACNET_BBMD'),
    bbmd_ttl_secs: Number(of('SERVICE_BACNET_BBMD_TTL_SECS')),
  }
}

const valuesOf = ({ addresses, port, bbmd, bbmd_ttl_secs }: BacnetWish): Record<Name, string> => ({
  SERVICE_BACNET_BIND: addresses.join(','),
  SERVICE_BACNET_PORT: String(port),
  SERVICE_BACNET_BBMD: bbmd,
  SERVICE_BACNET_BBMD_TTL_SECS: String(bbmd_ttl_secs),
})

const defaultOf = (name: Name): string => {
  const variable = BACNET_VARIABLES[name]
  return 'default' in variable ? String(variable.default) : ''
}

/** What the start would refuse: it must not meet a settings file that ends it. */
function wrongValues(values: Record<Name, string>): DataError[] {
  return NAMES.flatMap((name): DataError[] => {
    const read = readEnv({ [name]: BACNET_VARIABLES[name] }, { env: { [name]: values[name] } }, () => '')
    return read.ok ? [] : [{ pointer: FIELDS[name], message: `${values[name]} is no value of ${name}` }]
  })
}

type Way = { interface: string; ports: readonly number[] }

/** What the firewall of the box would drop without a word: the page cannot open it, so that a program on the network cannot either. */
function blockedPlaces({ addresses, port }: BacnetWish, machine: readonly MachineAddress[], way: Way | undefined): DataError[] {
  if (!way) return []
  const elsewhere = machine.find(one => addresses.includes(one.address) && one.name !== way.interface)
  const errors: DataError[] = []
  if (elsewhere)
    errors.push({
      pointer: FIELDS.SERVICE_BACNET_BIND,
      message: `${elsewhere.address} is on ${elsewhere.name}: the firewall of this box lets BACnet through on ${way.interface} alone`,
    })
  if (!way.ports.includes(port))
    errors.push({
      pointer: FIELDS.SERVICE_BACNET_PORT,
      message: `The firewall of this box lets BACnet through at UDP port ${way.ports.join(', ')} alone: bacnet_ports of system.json on a USB stick opens others`,
    })
  return errors
}

/** Addresses that this machine does not have, ports that another program holds, and a broadcast manager that cannot be one. */
async function wrongPlaces({ addresses, port, bbmd }: BacnetWish, machine: readonly MachineAddress[]): Promise<DataError[]> {
  const own = new Set(machine.map(({ address }) => address))
  const [host = '', bbmdPort = '47808'] = bbmd.split(':')
  const isHost = host.split('.').every(part => Number(part) <= 255) && Number(bbmdPort) >= 1 && Number(bbmdPort) <= 65_535
  const errors: DataError[] = []
  if (bbmd !== '' && !isHost)
    errors.push({ pointer: FIELDS.SERVICE_BACNET_BBMD, message: `${bbmd} is no address of a broadcast manager` })
  else if (bbmd !== '' && own.has(host))
    errors.push({
      pointer: FIELDS.SERVICE_BACNET_BBMD,
      message: `${host} is this machine, and a broadcast manager is another one`,
    })
  for (const address of addresses) {
    if (address !== EVERYWHERE && !own.has(address))
      errors.push({ pointer: FIELDS.SERVICE_BACNET_BIND, message: `${address} is no address of this machine` })
    else {
      const reason = await refusalOf(address, port)
      if (reason !== undefined)
        errors.push({ pointer: FIELDS.SERVICE_BACNET_PORT, message: `Port ${port} of ${address} cannot be used: ${reason}` })
    }
  }
  return errors
}

/** @returns why a socket cannot be opened there; what this process holds itself will be free */
async function refusalOf(address: string, port: number): Promise<string | undefined> {
  const socket = createSocket({ type: 'udp4', reuseAddr: false })
  try {
    await new Promise<void>((done, failed) => {
      socket.once('error', failed)
      socket.bind({ address, port, exclusive: true }, done)
    })
    return undefined
  } catch (error) {
    const owner = findPortOwner(address, port)
    return owner?.startsWith(`process ${process.pid} `) ? undefined : (owner ?? errorText(error))
  } finally {
    socket.close()
  }
}
