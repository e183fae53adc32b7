/** What the API and the pages ask of the priority scanner. It can be asked to look, never to command. */

/** Times are ms since 1970 UTC; null: not yet. */
export type ScannerState = {
  enabled: boolean
  state: 'idle' | 'visiting' | 'disabled'
  /** Why it is disabled, in words. */
  reason?: string
  interval_secs: number
  max_points_per_device: number
  last_started_at: number | null
  last_completed_at: number | null
  next_due_at: number | null
  last_device_instance: number | null
  last_error: string | null
}

/** One visit to one device. */
export type Visit = {
  visit_id: string
  device_instance: number
  source: 'scheduled' | 'triggered'
  state: 'visiting' | 'completed' | 'failed'
  started_at: number
  completed_at: number | null
  /** Points that were read, and those that could not be. */
  points_read: number
  points_failed: number
  error: string | null
}

export interface PriorityScanner {
  state(): ScannerState
  /**
   * Begins a visit to a configured device, or to the one whose turn it is.
   *
   * @throws Problem visit_in_progress, scanner_disabled, or unknown_device for one that is not configured
   */
  trigger(device_instance?: number): { visit_id: string; device_instance: number }
  /** The newest visits are remembered. */
  visit(visit_id: string): Visit | undefined
}
