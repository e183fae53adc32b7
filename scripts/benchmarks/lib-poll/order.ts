/** Messages between the processes of the poll benchmark. */

/** `afterMs`: how long each answer takes. */
export type DeviceAt = { host: string; afterMs: number }

/** Devices with analog inputs 0 to `points` - 1. The simulator sends back one port for each. */
export type SimulatorOrder = { points: number; devices: DeviceAt[] }

/** Present value of an analog input; a float32 holds it exactly. */
export const valueAt = (instance: number): number => instance + 0.25

/** Reads points 0 to `points` - 1 of one device over and over, `batch` to a request, `inFlight` requests at a time. */
export type ClientOrder = {
  client: 'ours' | 'node-bacnet'
  port: number
  points: number
  batch: number
  inFlight: number
  warmUpMs: number
  measureMs: number
}

/** Of the time after the warm-up. `wrong`: values that are not the device's, or missing. */
export type ClientReport = { points: number; wrong: number; seconds: number; cpuSeconds: number; rssMb: number }

/** Reads analog inputs [first, first + count). */
export type ReadBatch = (first: number, count: number) => Promise<(number | undefined)[]>

/** A building to poll as the appliance does, each device once a minute. */
export type BuildingOrder = { minutes: number; points: number; devices: PolledAt[] }
export type PolledAt = { host: string; port: number; kind: 'healthy' | 'slow' | 'dead' }

export type BuildingReport = {
  /** Reads of healthy devices, and of these how many came half a period too late or with a bad value. */
  healthy_reads: number
  healthy_late: number
  healthy_bad: number
  slow_reads: number
  /** Farthest that two readings of a healthy device were from a period apart, ms. */
  worst_ms: number
  late_cycles: number
  points: number
  cpu_share: number
  rss_mb: number
}

/** Every simulated device is this one: one answerer serves them all. */
export const DEVICE_INSTANCE = 1
