/** A simulated Haystack server, and the client and driver that read it, for one test. */
import type { ExecutionContext } from 'ava'
import { type HaystackAuth, parseHaystackAddress } from '#appliance/drivers/haystack/core/address.ts'
import type { HaystackPoint } from '#appliance/drivers/haystack/core/point.ts'
import type { PointKind } from '#shared/core/model/model.ts'
import { HaystackClient } from '#appliance/drivers/haystack/client.ts'
import { HaystackDriver } from '#appliance/drivers/haystack/driver.ts'
import { HaystackSession, type Server } from '#appliance/drivers/haystack/session.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import {
  ACCOUNT,
  type HaystackServerOptions,
  openHaystackServer,
  PROFILES,
  simPoint,
  type SimProfile,
} from '#scripts/simulator/haystack/server.ts'

export const NEVER = new AbortController().signal
/** Timeout far above the time of an answer on loopback, also on a busy machine. */
export const RETRY_POLICY = { timeoutMs: 20_000, retries: 0, signal: NEVER }
/** Timeout for answers that never arrive; long enough for a connection on a busy machine. */
export const IMPATIENCE = { timeoutMs: 2500, retries: 0, signal: NEVER }

const POINTS = [simPoint('a1', { num: 21.5, unit: '°C' }), simPoint('a2', true), simPoint('a3', 'cool')]

export async function openServer(
  t: ExecutionContext,
  profile: Partial<SimProfile> = {},
  options: Partial<HaystackServerOptions> = {},
) {
  const server = await openHaystackServer({ profile: { ...PROFILES.skyspark, ...profile }, points: POINTS, ...options })
  t.teardown(() => server.close())
  return server
}

/** @returns endpoint and login of a simulated server */
export function accessOf(server: { endpoint: string }, auth: HaystackAuth, changes: Partial<Server> = {}): Server {
  const named = auth === 'scram' || auth === 'basic'
  return {
    endpoint: new URL(server.endpoint),
    auth,
    username: named ? ACCOUNT.username : undefined,
    secret: ACCOUNT.password,
    ca: undefined,
    ...changes,
  }
}

export function openClient(t: ExecutionContext, server: Server, now: () => number = Date.now, inTurn = createSerialQueue()) {
  const session = new HaystackSession(server, inTurn, now)
  t.teardown(() => session.close())
  return { session, client: new HaystackClient(session) }
}

export function openDriver(
  t: ExecutionContext,
  server: Server,
  changes: Partial<ConstructorParameters<typeof HaystackDriver>[0]> = {},
) {
  const { session } = openClient(t, server, changes.now)
  return new HaystackDriver({
    session,
    timeoutMs: RETRY_POLICY.timeoutMs,
    retries: 0,
    leaseMs: 60_000,
    now: Date.now,
    ...changes,
  })
}

export function point(text: string, unit = 'degC', kind: PointKind = 'number', states?: string[]): HaystackPoint {
  const address = parseHaystackAddress(text)
  if (typeof address === 'string') throw new Error(address)
  return { address, kind, unit, states }
}
export const item = (point_id: string, address: HaystackPoint) => ({ point_id, address })
