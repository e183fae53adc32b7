/** Visits to devices that read their priority arrays, and the schedule of them. Nothing here can command a device. */

/** Times are ms since 1970 UTC; null: not yet. */
export type VisitScheduleState = {
  enabled: boolean
  state: 'idle' | 'visiting' | 'disabled'
  /** Why it is disabled, as a text. */
  reason?: string
  interval_secs: number
  max_points_per_device: number
  /** Duration of one round at these settings: of all outputs, and of all objects with the inputs. */
  round_outputs_secs?: number
  round_secs?: number
  /** Devices of the list at whose address another device answered at the last visit; at most `OTHERS_MAX`. */
  other_devices?: OtherDevice[]
  last_started_at: number | null
  last_completed_at: number | null
  next_due_at: number | null
  last_device_instance: number | null
  last_device_id?: string | null
  last_error: string | null
}

/** `since`: the first visit in a row at which another device answered, ms since 1970 UTC. */
export type OtherDevice = { device_id: string; device_instance: number; since: number; reason: string }
/** Most of them that are listed. With more, the whole list or the network is wrong. */
export const OTHER_DEVICES_MAX = 100

/** One visit to one device. */
export type Visit = {
  visit_id: string
  device_id: string
  device_instance: number
  source: 'scheduled' | 'triggered'
  state: 'visiting' | 'completed' | 'failed'
  started_at: number
  completed_at: number | null
  /** Points that were read, and points that could not be read. */
  points_read: number
  points_failed: number
  error: string | null
  /** Another device answered at the address, so nothing of the visit is stored. */
  is_other_device?: boolean
}

export interface VisitSchedule {
  state(): VisitScheduleState
  /**
   * Begins a visit to this device, or to the next one in turn.
   *
   * @param device_id needed when several devices of the list have the instance
   * @throws Problem visit_in_progress, scanner_disabled, unknown_device for a device that is not in the list, or bad_request
   *   when several devices have the instance
   */
  trigger(device_instance?: number, device_id?: string): { visit_id: string; device_instance: number; device_id?: string }
  /** Finds one of the newest visits. */
  visit(visit_id: string): Visit | undefined
}
