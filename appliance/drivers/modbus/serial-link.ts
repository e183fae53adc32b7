/** Opens the serial port of Modbus RTU, with errors that name the remedy. */
import { nameTable } from '#shared/core/name-table.ts'
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import type { SerialPort } from 'serialport'
import { noTraffic, type ByteCounts } from '#shared/core/poll/traffic.ts'
import type { ModbusLink } from './bus.ts'
import { createLine, type SerialLine, RtuConnection } from './rtu-connection.ts'

const PARITIES = ['none', 'even', 'odd'] as const
export type SerialSettings = { path: string; baud: number; parity: (typeof PARITIES)[number]; stopBits: 1 | 2 }

/** Hints by error code. */
const HINTS = nameTable<string>({
  ENOENT: 'the port does not exist; check that the adapter is plugged in',
  EACCES: 'no permission; add the user of the service to the group of the port, usually dialout',
})

/** @returns why a port cannot be opened */
export const explainPort = ({ code, message }: NodeJS.ErrnoException): string =>
  HINTS[code ?? ''] ?? `the port cannot be opened: ${message.replace(/^Error:? /, '')}`

/** Unanswered requests are remembered when the port is opened again, because late answers still arrive then. @param traffic counts the bytes on the line */
export function serialLink(settings: SerialSettings, traffic: ByteCounts = noTraffic()): ModbusLink {
  const line: SerialLine = createLine(settings.baud)
  return {
    name: settings.path,
    traffic,
    async open() {
      const { encodeRequest } = await import('./codec.ts')
      const port = await openPort(settings).catch(error => {
        throw new Error(explainPort(error as NodeJS.ErrnoException), { cause: error })
      })
      port.on('data', (bytes: Uint8Array) => (traffic.received_bytes += bytes.length))
      return new RtuConnection(port, line, (unit, place) => {
        const request = encodeRequest(unit, place)
        traffic.sent_bytes += request.length
        return request
      })
    },
  }
}

async function openPort({ path, baud, parity, stopBits }: SerialSettings): Promise<SerialPort> {
  await access(path, constants.R_OK | constants.W_OK)
  // Loaded only when a serial port is used: it is native code, and most sites have no serial port.
  const { SerialPort } = await import('serialport')
  const port = new SerialPort({ path, baudRate: baud, parity, stopBits, dataBits: 8, autoOpen: false })
  await new Promise<void>((resolve, reject) => port.open(error => (error ? reject(error) : resolve())))
  return port
}
