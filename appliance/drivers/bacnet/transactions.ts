/** All requests that are open, and the replies that belong to them. */
import { type Apdu, isSameStation, type Station } from './core/frame.ts'
import { invokeIds } from './core/invoke-ids.ts'
import type { Question } from './core/reply.ts'
import type { Outcome, Patience, Peer } from './outcome.ts'
import type { NetworkPath } from './network-paths.ts'
import { CANCELLED, type Pending, type Taken, transact } from './transaction.ts'

type Transactions = {
  request(peer: Peer, question: Question, patience: Patience, signal: AbortSignal): Promise<Outcome>
  /**
   * Matches on address, invoke id and station here, on service and properties in the transaction; never on the port,
   * since routers answer from others.
   *
   * @param host whom the reply is from
   */
  take(host: string, source: Station | undefined, apdu: Apdu): Taken | 'unmatched'
  /** Cancels what is open. */
  close(): void
}

type Parts = {
  routeTo(peer: Peer): NetworkPath
  /** What `at` is reckoned in, ms. */
  now: () => number
  /** In [0, 1), spreads repetitions. */
  random: () => number
}

/** `at`: where it stands in the list of all. */
type Open = { signal: AbortSignal; pending: Pending; at: number }

/** The end of an answer in parts is acknowledged again when the device repeats it: it has not heard us. */
type Farewell = { peer: Peer; invokeId: number; sequence: number; again(): void }

/** Ended so lately that a device may still repeat its last parts. */
const FAREWELLS_MAX = 32
/** Its failure is the device's silence, which ends by itself. */
const ignore = (): void => undefined

function settle(doomed: readonly Open[]): void {
  for (const { pending } of doomed) pending.settle(CANCELLED)
}

export function openTransactions({ routeTo, now, random }: Parts): Transactions {
  const ids = invokeIds<Pending>()
  const all: Open[] = []
  const heeded = new WeakSet<AbortSignal>()
  const farewells: Farewell[] = []
  let isClosed = false

  /** One listener for each signal, not for each request: a poll has thousands of requests and one signal. */
  function heed(signal: AbortSignal): void {
    if (heeded.has(signal)) return
    heeded.add(signal)
    const cancel = () => settle(all.filter(one => one.signal === signal))
    signal.addEventListener('abort', cancel, { once: true })
  }

  function forget({ at }: Open): void {
    const last = all.pop()!
    if (last.at === at) return
    all[at] = last
    last.at = at
  }

  function begin(peer: Peer, question: Question, patience: Patience, signal: AbortSignal, end: (outcome: Outcome) => void) {
    const route = routeTo(peer)
    let open: Open | undefined
    let isOver = false
    const isCancelled = () => isClosed || signal.aborted
    const resolve = (outcome: Outcome) => {
      isOver = true
      if (open) forget(open)
      end(outcome)
    }
    const sayFarewell = (invokeId: number, sequence: number, datagram: Buffer) => {
      farewells.push({ peer, invokeId, sequence, again: () => route.through.send(datagram, peer, ignore) })
      if (farewells.length > FAREWELLS_MAX) farewells.shift()
    }
    const pending = transact({ ids, route, now, random, isCancelled, sayFarewell }, { peer, question, patience, resolve })
    if (!isOver) all.push((open = { signal, pending, at: all.length }))
  }

  return {
    request: (peer, question, patience, signal) =>
      new Promise(resolve => {
        if (isClosed || signal.aborted) return resolve(CANCELLED)
        heed(signal)
        return begin(peer, question, patience, signal, resolve)
      }),
    take(host, source, apdu) {
      const { invokeId } = apdu
      const pending = ids.find(host, invokeId)
      if (pending && isSameStation(source, pending.peer.station)) return pending.take(apdu)
      if (apdu.kind !== 'segment') return 'unmatched'
      const { sequence } = apdu
      const said = farewells.find(one => one.invokeId === invokeId && one.sequence === sequence && one.peer.host === host)
      if (said && isSameStation(source, said.peer.station)) said.again()
      return 'unmatched'
    },
    close() {
      isClosed = true
      settle([...all])
    },
  }
}
