/** What the API and the pages ask of the priority scanner. It can be asked to look, never to command. */

/** Times are ms since 1970 UTC; null: not yet. */
export type VisitScheduleState = {
  enabled: boolean
  state: 'idle' | 'visiting' | 'disabled'
  /** Why it is disabled, in words. */
  reason?: string
  interval_secs: number
  max_points_per_device: number
  /** How long one round takes at these settings: through all that may be commanded, and through inputs as well. */
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
/** Most of them that are told; with more, something is wrong with the list or the network as a whole. */
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
  /** Points that were read, and those that could not be. */
  points_read: number
  points_failed: number
  error: string | null
  /** Another device answered at the address: nothing of the visit is kept. */
  is_other_device?: boolean
}

export interface VisitSchedule {
  state(): VisitScheduleState
  /**
   * Begins a visit to a configured device, or to the one whose turn it is.
   *
   * @param device_id needed where several devices of the list have the instance
   * @throws Problem visit_in_progress, scanner_disabled, unknown_device for one that is not configured, or bad_request where
   *   the instance is that of several
   */
  trigger(device_instance?: number, device_id?: string): { visit_id: string; device_instance: number; device_id?: string }
  /** The newest visits are remembered. */
  visit(visit_id: string): Visit | undefined
}
