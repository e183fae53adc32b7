/** Runs the processes of the poll bench, one order each. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { BuildingOrder, BuildingReport, ClientOrder, ClientReport, SimulatorOrder } from './order.ts'

/** @throws Error when the process ends without a report; what it said is on standard error */
async function reportOf<Report>(child: ChildProcess, name: string): Promise<Report> {
  const message = once(child, 'message').then(([report]) => report as Report)
  const end = once(child, 'exit').then(([code]) => {
    throw new Error(`${name} ended with ${code} before it reported`)
  })
  return await Promise.race([message, end])
}

const start = (file: string, order: object): ChildProcess =>
  fork(new URL(file, import.meta.url), [JSON.stringify(order)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })

async function runToEnd<Report>(file: string, order: object): Promise<Report> {
  const child = start(file, order)
  const ended = once(child, 'exit')
  const report = await reportOf<Report>(child, file)
  await ended
  return report
}

/** Opens the simulated devices. @returns their ports, in the order of `order.devices` */
export async function openSimulator(order: SimulatorOrder): Promise<{ ports: number[]; close(): Promise<void> }> {
  const child = start('./simulator.ts', order)
  const ports = await reportOf<number[]>(child, 'the simulator')
  return {
    ports,
    async close() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

export const runClient = (order: ClientOrder): Promise<ClientReport> => runToEnd('./client.ts', order)
export const runBuilding = (order: BuildingOrder): Promise<BuildingReport> => runToEnd('./building.ts', order)
