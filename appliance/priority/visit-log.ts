/** Log lines of the visits. */
import type { Logger } from 'pino'
import type { Visit } from '#shared/core/priority/visit.ts'
import { failureLog } from '#shared/node/failure-log.ts'
import type { VisitEvent } from '../flow/run-visits.ts'

/**
 * Logs a device that cannot be read fully as one warning when that begins, one when its reason changes, and one line when it
 * is read again.
 */
export function visitLog(log: Logger): (event: VisitEvent) => void {
  const reasons = new Map<string, string>()
  const saving = failureLog(
    log,
    'visit schedule not saved: visits go on, and a restart repeats some',
    'visit schedule saved again',
  )
  const logVisit = ({ visit_id, device_id, device_instance, source, state, points_read, points_failed, error }: Visit) => {
    const fields = { visit_id, device_id, source, state, points_read, points_failed }
    const device = `${device_id} (device ${device_instance})`
    const before = reasons.get(device_id)
    if (error === null) {
      reasons.delete(device_id)
      return log[before === undefined ? 'debug' : 'info'](fields, `priority arrays of ${device}: all read`)
    }
    reasons.set(device_id, error)
    return log[before === error ? 'debug' : 'warn'](fields, `priority arrays of ${device}: not all read: ${error}`)
  }
  return event => {
    switch (event.kind) {
      case 'visit_over':
        return logVisit(event.visit)
      case 'not_commandable': {
        const objects = event.objects.map(({ target }) => `${target.object_type},${target.object_instance}`)
        return log.info(
          { device_id: event.device_id, objects },
          `${objects.length} points without a priority array: asking again in a day`,
        )
      }
      case 'replaced': {
        const { device_id, identity } = event
        return log.warn({ device_id, ...identity.make }, `device ${device_id} replaced by another make: visits go on`)
      }
      case 'not_saved':
        return saving.failed(event.error)
      case 'saved':
        return saving.worked()
    }
  }
}
