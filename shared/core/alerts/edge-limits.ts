/**
 * Limits of the alerts about an edge that sends. Each is raised beyond the first, and holds until the figure is below the second, so
 * that one that wavers is one alert. A certificate is renewed after two thirds of its life, when more than these days are left.
 */
import { DAY, HOUR, MINUTE, SECOND } from '../time.ts'

export const EDGE_LIMITS = {
  poll: { raiseMs: 15 * MINUTE },
  backlog: { raiseMs: HOUR, holdMs: 15 * MINUTE },
  clock: { raiseMs: 30 * SECOND, holdMs: 5 * SECOND },
  certificate: { raiseMs: 14 * DAY, urgentMs: 3 * DAY },
  /** Whole percent. */
  disk: { raise: 90, hold: 85, urgent: 95 },
}
