import assert from 'node:assert/strict'
import { parseHaystackAddress, parseEndpoint } from './core/address.ts'
import type { HaystackPoint } from './core/point.ts'
import { HOUR, MINUTE, SECOND } from '#shared/core/time.ts'
import type { DeviceEntry } from '../../store/catalogue-schema.ts'
import type { Complaint } from '../../store/json-file.ts'
import { type FieldProtocol, RETRIES, TIMEOUT_MS } from '../protocol.ts'
import { noTraffic } from '#shared/core/poll/traffic.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import { type HaystackAccess, serverOf } from './access.ts'
import { checkFilter } from './codec.ts'
import { HaystackDriver } from './driver.ts'
import { HaystackSession } from './session.ts'

/** A lease of three poll periods: a watch survives two failed polls. */
const LEASE_PERIODS = 3
const LEASE_MIN_MS = MINUTE

/**
 * Polls one Haystack server. Devices with the same login share a session.
 *
 * @param now time of readings, ms since 1970 UTC
 */
export function haystackProtocol({ access, now }: { access: HaystackAccess; now: () => number }): FieldProtocol {
  const sessions = new Map<string, HaystackSession>()
  const inTurn = createSerialQueue()
  const traffic = noTraffic()
  return {
    name: 'haystack',
    check: entry => checkHaystack(entry, access),
    async start() {},
    link(entry) {
      const server = serverOf(entry, access)
      const key = `${server.auth} ${server.username ?? ''}`
      const session = sessions.get(key) ?? new HaystackSession(server, inTurn, now, traffic)
      sessions.set(key, session)
      const driver = new HaystackDriver({
        session,
        timeoutMs: entry.timeout_ms ?? TIMEOUT_MS,
        retries: entry.retries ?? RETRIES,
        leaseMs: leaseMs(entry),
        now,
      })
      return { driver, addresses: new Map(entry.points.map(point => [point.point_id, haystackPoint(point)])) }
    },
    async stop() {
      await Promise.all(Array.from(sessions.values(), session => session.close()))
      sessions.clear()
    },
    traffic: () => traffic,
  }
}

function leaseMs({ points }: DeviceEntry): number {
  const shortest = Math.min(...points.map(({ poll_secs }) => poll_secs))
  return Math.min(HOUR, Math.max(LEASE_MIN_MS, LEASE_PERIODS * shortest * SECOND))
}

/** @returns the point that an entry of a checked catalogue describes */
export function haystackPoint({ address, kind, unit, states }: DeviceEntry['points'][number]): HaystackPoint {
  const parsed = parseHaystackAddress(address)
  assert(typeof parsed !== 'string', 'addresses were checked when the catalogue was read')
  return { address: parsed, kind, unit, states }
}

function checkHaystack({ haystack, points }: DeviceEntry, { endpoint, secret }: HaystackAccess): Complaint[] {
  if (!haystack) return []
  const complaints: Complaint[] = []
  const own = parseEndpoint(haystack.endpoint)
  if (typeof own === 'string') complaints.push({ pointer: '/haystack/endpoint', message: own })
  else if (own.href !== endpoint.href) {
    const message = `this process reads only ${endpoint.href} (SERVICE_HAYSTACK_ENDPOINT); start another process for another server`
    complaints.push({ pointer: '/haystack/endpoint', message })
  }
  // RFC 9110 5.5: a header holds visible ASCII only. Passwords of scram and basic are encoded.
  if (haystack.auth.startsWith('bearer') && !/^[\x21-\x7e]+$/.test(secret)) {
    const message = `SERVICE_HAYSTACK_API_KEY contains characters that auth ${haystack.auth} cannot send`
    complaints.push({ pointer: '/haystack/auth', message })
  }
  const needsName = haystack.auth === 'scram' || haystack.auth === 'basic'
  if (needsName !== (haystack.username !== undefined)) {
    complaints.push({
      pointer: '/haystack/username',
      message: `auth ${haystack.auth} ${needsName ? 'needs a' : 'has no'} user name`,
    })
  }
  return [
    ...complaints,
    ...points.flatMap((point, i) => checkAddress(point).map(one => ({ ...one, pointer: `/points/${i}${one.pointer}` }))),
  ]
}

function checkAddress({ address, scale, offset }: DeviceEntry['points'][number]): Complaint[] {
  const complaints: Complaint[] = []
  const parsed = parseHaystackAddress(address)
  const wrong = typeof parsed === 'string' ? parsed : 'filter' in parsed ? checkFilter(parsed.filter) : undefined
  if (wrong !== undefined) complaints.push({ pointer: '/address', message: wrong })
  if (scale !== undefined || offset !== undefined) {
    const message = 'not allowed: values from a Haystack server are converted by their units'
    complaints.push({ pointer: scale === undefined ? '/offset' : '/scale', message })
  }
  return complaints
}
