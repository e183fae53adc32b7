/** Ends tokens before they expire: one session, or all of a user; and closes the streams that were opened with them. */
import type { TokenEpochs } from '#shared/core/stores.ts'
import { TIMER_MAX_MS } from '#shared/node/clock.ts'
import type { Caller } from '#shared/node/http/route.ts'

/** Sessions that were signed out before their token expired. `until` in ms since 1970 UTC. */
export type EndedSessions = {
  has(session: string): boolean
  /** @returns how many of this user's sessions are stored now */
  add(ended: { session: string; username: string; until: number }, now: number): number
  /** Removes the sessions of a user whose tokens were all ended. */
  clear(username: string): void
}
/** Sessions of one user that are stored as ended; beyond it all of the user's tokens are ended, which needs one number. */
export const ENDED_MAX = 1000

type TokenEnds = {
  /** The epoch of new tokens of this user. */
  epochOf(username: string): number
  isEnded(token: { subject: string; session: string; epoch: number }): boolean
  endSession(caller: Caller): void
  endAll(username: string): void
  /** Ends the streams of one session. */
  endStreams(session: string): void
  /** Calls `ended` once, when the caller's token is ended or has expired. @returns how to stop watching */
  watch(caller: Caller, ended: () => void): () => void
}

/** @param now the wall clock, ms */
export function openTokenEnds(epochs: TokenEpochs, sessions: EndedSessions, now: () => number): TokenEnds {
  const watchers = new Set<{ caller: Caller; ended: () => void }>()
  const tell = (which: (caller: Caller) => boolean) => {
    for (const watcher of watchers) if (which(watcher.caller)) watcher.ended()
  }
  const endAll = (username: string) => {
    epochs.set(username, epochs.get(username) + 1)
    sessions.clear(username)
    tell(({ subject }) => subject === username)
  }
  return {
    epochOf: username => epochs.get(username),
    isEnded: ({ subject, session, epoch }) => epoch !== epochs.get(subject) || sessions.has(session),
    endSession(caller) {
      const { subject: username, session, expires_at: until } = caller
      if (until === undefined) return
      const kept = sessions.add({ session, username, until }, now())
      if (kept > ENDED_MAX) endAll(username)
      else tell(other => other.session === session)
    },
    endAll,
    endStreams: session => tell(other => other.session === session),
    watch(caller, ended) {
      const watcher = { caller, ended: () => (stop(), ended()) }
      let timer: NodeJS.Timeout | undefined
      const waitUntil = (end: number) => {
        const left = end - now()
        timer = left > TIMER_MAX_MS ? setTimeout(() => waitUntil(end), TIMER_MAX_MS) : setTimeout(() => watcher.ended(), left)
        timer.unref()
      }
      if (caller.expires_at !== undefined) waitUntil(caller.expires_at)
      const stop = () => {
        clearTimeout(timer)
        watchers.delete(watcher)
      }
      watchers.add(watcher)
      return stop
    },
  }
}

/** Ended sessions of a process without a store. */
export function rememberEnded(): EndedSessions {
  const byUser = new Map<string, Map<string, number>>()
  return {
    has: session => [...byUser.values()].some(sessions => sessions.has(session)),
    add({ session, username, until }, now) {
      const sessions = byUser.get(username) ?? new Map<string, number>()
      byUser.set(username, sessions)
      for (const [other, end] of sessions) if (end <= now) sessions.delete(other)
      sessions.set(session, until)
      return sessions.size
    },
    clear: username => void byUser.delete(username),
  }
}
