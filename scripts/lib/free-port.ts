import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/** Below the ports that Linux gives to sockets which ask for any (32768 to 60999): none of those takes one of these meanwhile. */
const [FIRST, END] = [10_000, 32_000]
const TRIES = 100

/** A TCP port on loopback that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const server = createServer()
    try {
      server.listen(randomInt(FIRST, END), '127.0.0.1')
      await once(server, 'listening')
      return (server.address() as { port: number }).port
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    } finally {
      server.close()
    }
  }
  throw new Error(`of ${TRIES} ports between ${FIRST} and ${END} none is free`)
}

/** @returns whether somebody listens on a TCP port of loopback within the time, ms */
export async function untilListening(port: number, withinMs: number): Promise<boolean> {
  for (const end = Date.now() + withinMs; Date.now() < end; await setTimeout(50)) if (await listens(port)) return true
  return false
}

const listens = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    const end = (is: boolean) => {
      socket.destroy()
      resolve(is)
    }
    socket.once('connect', () => end(true)).once('error', () => end(false))
  })
