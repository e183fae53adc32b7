import { errorText } from '#shared/core/error-text.ts'
import { parseArgs } from 'node:util'

export type Options = { data: string | undefined; portBase: number; speed: number; once: boolean; json: boolean }

/** Ports that a site takes, counted from its base: pages and broker first, then the devices. */
export const PORTS = { hub: 0, appliance: 1, broker: 2, devices: 10, deviceCount: 7 } as const

const PORT_BASE = { default: 8600, min: 1024, max: 65_000 }
/** Beyond the highest, the minute between two polls is shorter than an answer over a socket may take. */
const SPEED = { default: 120, min: 1, max: 600 }

export const USAGE = `usage: scripts/start [--data DIR] [--port-base N] [--speed N] [--once [--json]]

  --data DIR       keep everything in DIR; a later start goes on there (default: a temporary folder, removed at exit)
  --port-base N    first port, ${PORT_BASE.min}..${PORT_BASE.max} (default ${PORT_BASE.default}); N to N+${PORTS.devices + PORTS.deviceCount - 1} are used
  --speed N        how much faster than real time the building runs, ${SPEED.min}..${SPEED.max} (default ${SPEED.default})
  --once           run until the hub shows three confirmed findings of the appliance, then stop: exit 0, or 1 with the reason
  --json           with --once: one line of JSON on standard output
`

/** @returns the options, `help`, or in words what is wrong with them */
export function readOptions(argv: string[]): Options | 'help' | { wrong: string } {
  const read = parse(argv)
  if ('wrong' in read) return read
  const { values } = read
  if (values.help) return 'help'
  const portBase = numberIn(values['port-base'], PORT_BASE)
  if (portBase === undefined) return { wrong: `--port-base takes a whole number from ${PORT_BASE.min} to ${PORT_BASE.max}` }
  const speed = numberIn(values.speed, SPEED)
  if (speed === undefined) return { wrong: `--speed takes a whole number from ${SPEED.min} to ${SPEED.max}` }
  const { once = false, json = false } = values
  if (json && !once) return { wrong: '--json goes with --once' }
  if (values.data === '') return { wrong: '--data takes a folder' }
  return { data: values.data, portBase, speed, once, json }
}

function parse(argv: string[]) {
  try {
    const text = { type: 'string' } as const
    const flag = { type: 'boolean' } as const
    return parseArgs({
      args: argv,
      options: { data: text, 'port-base': text, speed: text, once: flag, json: flag, help: flag },
    })
  } catch (error) {
    return { wrong: errorText(error).split('. ')[0]! }
  }
}

function numberIn(text: string | undefined, range: { default: number; min: number; max: number }): number | undefined {
  if (text === undefined) return range.default
  const value = Number(text)
  return /^\d+$/.test(text) && value >= range.min && value <= range.max ? value : undefined
}
