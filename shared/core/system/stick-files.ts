/** Files that a USB stick may bring to a box whose operating system is ours. */
export const STICK_FILES = {
  reset: 'reset.txt',
  clock: 'clock.txt',
  system: 'plenum.json',
  kit: 'kit.zip',
  update: 'update.raucb',
} as const
/** What a box writes back; a stick that has such a file is not taken again by the same box. */
export const resultFile = (box: string): string => `result-${box}.txt`
