/** One read of registers or bits that an operator asks for, in turn with what is polled. */
import { decodeBit } from '#shared/core/modbus/decode.ts'
import { formatException } from '#shared/core/modbus/exception.ts'
import { BITS_MAX, REGISTERS_MAX } from '#shared/core/modbus/plan.ts'
import { ADDRESS_MAX, isBits, type Place } from '#shared/core/modbus/point.ts'
import { Problem } from '#shared/core/problem.ts'
import type { ModbusProtocol } from '../drivers/modbus/protocol.ts'
import type { Catalogue, DeviceEntry } from '../store/catalogue-schema.ts'

export type RegisterSources = { catalogue: () => Catalogue; modbus: Pick<ModbusProtocol, 'readPlace'> }

/** What came: registers as they are on the wire, or bits one by one. */
export type RegisterRead = {
  device: DeviceEntry
  place: Place
  /** Registers, 2 bytes each; empty where bits were read. */
  bytes: Uint8Array
  bits: (0 | 1)[]
  /** When the answer came, ms since 1970 UTC, and how long it took, ms. */
  at: number
  rttMs: number
}
export type RegisterReader = {
  devices(): DeviceEntry[]
  /**
   * @throws Problem `unknown_device` when it is none of `devices()`, `invalid` when there is no such place, `conflict` while
   *   another read of the device goes on, `device_failed` when it gives no values
   */
  read(device_id: string, place: Place): Promise<RegisterRead>
}

export function registerReader({ catalogue, modbus }: RegisterSources): RegisterReader {
  /** One at a time, so that reads do not pile up before what is polled. */
  const reading = new Set<string>()
  const devices = () => catalogue().devices.filter(({ enabled, protocol }) => enabled && protocol === 'modbus')
  return {
    devices,
    async read(device_id, place) {
      const device = devices().find(one => one.device_id === device_id)
      if (!device) throw new Problem('unknown_device', `There is no enabled Modbus device "${device_id}" in the catalogue`)
      checkPlace(place)
      if (reading.has(device_id)) throw new Problem('conflict', `Another read of ${device_id} has not ended yet`)
      reading.add(device_id)
      try {
        const outcome = await modbus.readPlace(device, place)
        if (outcome.state === 'exception') {
          throw new Problem('device_failed', `${device_id} declines: ${formatException(outcome.code)}`)
        }
        if (outcome.state !== 'data') throw new Problem('device_failed', outcome.reason)
        const { bytes, at, rttMs } = outcome
        const bits = isBits(place.table) ? Array.from({ length: place.count }, (_, i) => decodeBit(bytes, i)) : []
        return { device, place, bytes: bits.length ? new Uint8Array(0) : bytes, bits, at, rttMs }
      } finally {
        reading.delete(device_id)
      }
    },
  }
}

function checkPlace({ table, address, count }: Place): void {
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
