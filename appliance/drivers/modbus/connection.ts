/** The connection that a bus needs: a socket or a serial port. */
import type { Reply } from './core/pdu.ts'
import type { RegisterRange } from './core/point.ts'

export type Answer = Reply | { state: 'timeout' } | { state: 'closed'; reason: string }

/** A connection is replaced by a new one when its state is in doubt. */
export interface Connection {
  /** False as well when nothing that comes over it could be trusted any more. */
  isOpen(): boolean
  /** One request; nothing else may be in flight. It ends when the connection does. */
  read(unit: number, place: RegisterRange, timeoutMs: number): Promise<Answer>
  close(): Promise<void>
}

export type Link = {
  /** As people know it: `10.20.0.40:502` or `/dev/serial/by-id/...`. */
  readonly name: string
  /** @throws Error that says why there is no connection */
  open(timeoutMs: number, signal: AbortSignal): Promise<Connection>
}
