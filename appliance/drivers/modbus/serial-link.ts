/** The serial port below Modbus RTU, with errors that say what to do about them. */
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import type { SerialPort } from 'serialport'
import type { ModbusLink } from './bus.ts'
import { createLine, type SerialLine, RtuConnection } from './rtu-connection.ts'

const PARITIES = ['none', 'even', 'odd'] as const
export type SerialSettings = { path: string; baud: number; parity: (typeof PARITIES)[number]; stopBits: 1 | 2 }

/** Hints for the person who has to repair the port, by error code. */
const HINTS: Record<string, string> = {
  ENOENT: 'there is no such port; is the adapter plugged in?',
  EACCES: 'no permission; the user of the service has to be in the group of the port, mostly dialout',
}

/** @returns in words why a port cannot be opened */
export const explainPort = ({ code, message }: NodeJS.ErrnoException): string =>
  HINTS[code ?? ''] ?? `the port cannot be opened: ${message.replace(/^Error:? /, '')}`

/** Unanswered requests are remembered beyond the port: a device answers late whether or not the port was opened again. */
export function serialLink(settings: SerialSettings): ModbusLink {
  const line: SerialLine = createLine(settings.baud)
  return {
    name: settings.path,
    async open() {
      const port = await openPort(settings).catch(error => {
        throw new Error(explainPort(error as NodeJS.ErrnoException), { cause: error })
      })
      return new RtuConnection(port, line)
    },
  }
}

async function openPort({ path, baud, parity, stopBits }: SerialSettings): Promise<SerialPort> {
  await access(path, constants.R_OK | constants.W_OK)
  // Loaded when there is a serial port: most boxes have none, and it is native code.
  const { SerialPort } = await import('serialport')
  const port = new SerialPort({ path, baudRate: baud, parity, stopBits, dataBits: 8, autoOpen: false })
  await new Promise<void>((resolve, reject) => port.open(error => (error ? reject(error) : resolve())))
  return port
}
