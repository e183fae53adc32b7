import type { SegmentedLog } from '#shared/core/ports.ts'

/** A segmented log in a folder. */
export type FileLog<T> = SegmentedLog<T> & {
  /** Oldest first; the last one is being written. */
  segments(): { first: number; last: number; bytes: number }[]
  close(): Promise<void>
}
/** Bytes of a group that was never acknowledged, cut from the end at start-up and kept in `aside`. */
export type Cut = { file: string; offset: number; bytes: number; reason: string; aside: string | undefined }
export type LogOpening<T> =
  | { state: 'open'; log: FileLog<T>; cut: Cut | undefined }
  | { state: 'corrupt'; file: string; offset: number; reason: string }

/** Opens, or makes, the log in `dir` and verifies every byte of it. Damage is returned, never repaired. */
export declare function openSegmentedLog<T>(dir: string, options?: { segmentBytes?: number }): Promise<LogOpening<T>>
