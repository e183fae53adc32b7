/** How `scripts/up` ends: as every command for scripts does, so that a caller need not read words. */
export const EXIT = {
  ok: 0,
  /** A part ended by itself, or is not well. */
  failed: 1,
  usage: 2,
  /** A downgrade, or a second start in the same folder. */
  refused: 3,
  /** A part did not become healthy in time. */
  timeout: 4,
  /** sysexits.h EX_CONFIG: a setting is missing or wrong. */
  configuration: 78,
} as const

/** A command that cannot be carried out, in a sentence for whoever gave it. */
export class UpError extends Error {
  override name = 'UpError'
  readonly kind: keyof typeof EXIT
  constructor(kind: keyof typeof EXIT, message: string) {
    super(message)
    this.kind = kind
  }
}
