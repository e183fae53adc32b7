/** How full a disk is, with what, and from where on people are warned. */
export type DiskSpace = { free_bytes: number; total_bytes: number }

/** Percent, from above. */
const LEVELS = [95, 90, 80] as const
type DiskLevel = (typeof LEVELS)[number]

/** @returns whole percent, rounded down; what only root may use counts as used */
export const usedPercent = ({ free_bytes, total_bytes }: DiskSpace): number =>
  total_bytes > 0 ? Math.floor((1 - free_bytes / total_bytes) * 100) : 0

/** @returns the highest level that is reached; undefined where there is nothing to warn of */
export const diskLevel = (used: number): DiskLevel | undefined => LEVELS.find(level => used >= level)

/** What takes space on a disk, by the class of data. */
export const STORAGE_CLASSES = [
  'history',
  'database',
  'uploads',
  'cache',
  'results',
  'backups',
  'updates',
  'outbox',
  'priority_history',
] as const
export type StorageClass = (typeof STORAGE_CLASSES)[number]

/** `max_bytes` is null where nothing but the disk bounds a class. */
export type ClassUse = { name: StorageClass; bytes: number; max_bytes: number | null }
