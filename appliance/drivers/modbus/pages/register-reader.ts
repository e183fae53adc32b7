/** Reads registers or bits for an operator, in turn with polling. */
import { decodeBit } from '../core/decode.ts'
import { formatException } from '../core/pdu.ts'
import { BITS_MAX, REGISTERS_MAX } from '../core/plan.ts'
import { ADDRESS_MAX, isBits, type RegisterRange } from '../core/point.ts'
import { Problem } from '#shared/core/problem.ts'
import type { ModbusProtocol } from '../protocol.ts'
import type { DeviceCatalogue, DeviceEntry } from '../../../store/catalogue-schema.ts'
import { say } from '#shared/node/http/language.ts'

export type RegisterSources = { catalogue: () => DeviceCatalogue; modbus: Pick<ModbusProtocol, 'readPlace'> }

/** Failed requests of one read: five missing registers among 125 take 35. */
const FAILURES_MAX = 40
/** Requests of one read without an answer; each costs its timeout. */
const TIMEOUTS_MAX = 4

/** The result: registers as received, or bits one by one. */
export type RegisterRead = {
  device: DeviceEntry
  place: RegisterRange
  /** The readable parts by address: one, or several around unreadable addresses. Never empty. */
  parts: RegisterPart[]
  unreadable: UnreadablePart[]
  /** Time of the last answer, ms since 1970 UTC, and round-trip time of the first one, ms. */
  at: number
  rttMs: number
}
type RegisterPart = {
  address: number
  /** Registers, 2 bytes each; empty for bits. */
  bytes: Uint8Array
  bits: (0 | 1)[]
}
type UnreadablePart = { address: number; count: number; reason: string }
type RegisterReader = {
  devices(): DeviceEntry[]
  /**
   * @throws Problem `unknown_device` when it is not in `devices()`, `invalid` when the range does not exist, `conflict` while
   *   another read of the device runs, `device_failed` when it returns no values
   */
  read(device_id: string, place: RegisterRange): Promise<RegisterRead>
}

export function registerReader({ catalogue, modbus }: RegisterSources): RegisterReader {
  /** Devices that are being read: one read at a time, so that reads do not delay polling. */
  const reading = new Set<string>()
  const devices = () => catalogue().devices.filter(({ enabled, protocol }) => enabled && protocol === 'modbus')
  return {
    devices,
    async read(device_id, place) {
      const device = devices().find(one => one.device_id === device_id)
      if (!device) throw new Problem('unknown_device', `There is no enabled Modbus device "${device_id}" in the catalogue`)
      checkPlace(place)
      if (reading.has(device_id)) throw new Problem('conflict', `Another read of ${device_id} is still running`)
      reading.add(device_id)
      try {
        return await readParts(modbus, device, place)
      } finally {
        reading.delete(device_id)
      }
    },
  }
}

/** Splits a failed range into halves, so that one missing register hides no other. */
async function readParts(modbus: RegisterSources['modbus'], device: DeviceEntry, place: RegisterRange): Promise<RegisterRead> {
  const read: RegisterRead = { device, place, parts: [], unreadable: [], at: 0, rttMs: 0 }
  const waiting: RegisterRange[] = [place]
  let failures = 0
  let timeouts = 0
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const outcome = await modbus.readPlace(device, next)
    if (outcome.state === 'data') {
      if (read.parts.length === 0) read.rttMs = outcome.rttMs
      read.at = outcome.at
      addPart(read, partOf(next, outcome.bytes))
      continue
    }
    failures++
    if (outcome.state !== 'exception') timeouts++
    const mayHalve = next.count > 1 && failures < FAILURES_MAX && timeouts < TIMEOUTS_MAX
    if (mayHalve) waiting.unshift(...halvesOf(next))
    else {
      const reason =
        outcome.state === 'exception' ? say`${device.device_id} refuses: ${formatException(outcome.code)}` : outcome.reason
      addUnreadable(read, { address: next.address, count: next.count, reason })
    }
  }
  if (read.parts.length === 0) throw new Problem('device_failed', read.unreadable[0]!.reason)
  return read
}

function halvesOf({ table, address, count }: RegisterRange): [RegisterRange, RegisterRange] {
  const first = Math.ceil(count / 2)
  return [
    { table, address, count: first },
    { table, address: address + first, count: count - first },
  ]
}

function partOf({ table, address, count }: RegisterRange, bytes: Uint8Array): RegisterPart {
  if (!isBits(table)) return { address, bytes, bits: [] }
  return { address, bytes: new Uint8Array(0), bits: Array.from({ length: count }, (_, i) => decodeBit(bytes, i)) }
}

/** Joins adjacent parts, so that values of several registers can be decoded across them. */
function addPart({ parts }: RegisterRead, part: RegisterPart): void {
  const last = parts.at(-1)
  if (last && last.address + last.bits.length + last.bytes.length / 2 === part.address) {
    last.bits.push(...part.bits)
    last.bytes = Buffer.concat([last.bytes, part.bytes])
  } else parts.push(part)
}

function addUnreadable({ unreadable }: RegisterRead, part: UnreadablePart): void {
  const last = unreadable.at(-1)
  if (last && last.reason === part.reason && last.address + last.count === part.address) last.count += part.count
  else unreadable.push(part)
}

function checkPlace({ table, address, count }: RegisterRange): void {
  const most = isBits(table) ? BITS_MAX : REGISTERS_MAX
  if (count > most) {
    throw new Problem('invalid', `One request reads at most ${most} of table ${table}`, [
      { pointer: '/count', message: `at most ${most}` },
    ])
  }
  if (address + count - 1 > ADDRESS_MAX) {
    throw new Problem('invalid', `Addresses end at ${ADDRESS_MAX}`, [
      { pointer: '/count', message: `${count} from ${address} go beyond ${ADDRESS_MAX}` },
    ])
  }
}
