/** What an update of the box has to keep: polling, the priority journal and the uplink work as they did before it. */
import { type Static, Type } from '@sinclair/typebox'

/**
 * The public health of the version before, which the system of the box keeps when it installs an update. What a version did not
 * say demands nothing.
 */
export const HealthBefore = Type.Object({
  checks: Type.Object({
    poll: Type.Optional(Type.Object({ points_ok: Type.Integer({ minimum: 0 }) })),
    hub: Type.Optional(Type.Object({ state: Type.String() })),
    priority_history: Type.Optional(Type.Object({ journal: Type.String() })),
  }),
})
export type HealthBefore = Static<typeof HealthBefore>

type Present = { points_ok: number; hub: { state: string; reason?: string }; journal: { journal: string; reason?: string } }

/** Devices fail and are switched off at any time; a driver that has broken loses all of its points. */
const POINTS_SHARE = 0.5

/** @returns what worked before and does not now, in words; empty where the update has lost nothing */
export function lostSince({ checks: { poll, hub, priority_history } }: HealthBefore, now: Present): string[] {
  const pointsBefore = poll?.points_ok ?? 0
  const because = (reason: string | undefined) => (reason === undefined ? '' : ` (${reason})`)
  return [
    ...(now.points_ok < pointsBefore * POINTS_SHARE
      ? [`polling: ${now.points_ok} points are good, ${pointsBefore} were before`]
      : []),
    ...(priority_history && priority_history.journal !== 'disabled' && now.journal.journal === 'disabled'
      ? [`priority journal: it was open before and is disabled${because(now.journal.reason)}`]
      : []),
    ...(hub?.state === 'up' && now.hub.state !== 'up'
      ? [`uplink: the hub was connected before and is not${because(now.hub.reason)}`]
      : []),
  ]
}
