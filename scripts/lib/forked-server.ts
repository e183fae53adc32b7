/** A server in a process of its own that a benchmark asks: it sends its address first, then its figures whenever it is asked for them. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Figures } from './process-figures.ts'

export type ForkedServer = { url: string; figures(): Promise<Figures>; close(): Promise<void> }

/** @param order what the child is to serve. @throws Error when it ends before it answers */
export async function forkServer(file: URL, order: object): Promise<ForkedServer> {
  const child = fork(file)
  const url = await tell<string>(child, order)
  return {
    url,
    figures: () => tell<Figures>(child, 'figures'),
    async close() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

async function tell<Reply>(child: ChildProcess, message: object | 'figures'): Promise<Reply> {
  const over = new AbortController()
  const { signal } = over
  const reply = Promise.race([
    once(child, 'message', { signal }).then(([value]) => value as Reply),
    once(child, 'exit', { signal }).then(([code]) => Promise.reject(new Error(`the process ended with ${code}`))),
  ])
  child.send(message)
  return reply.finally(() => over.abort())
}
