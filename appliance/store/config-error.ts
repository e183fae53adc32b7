/** One thing that is wrong in a settings file. `pointer` is a JSON pointer (RFC 6901). */
export type Complaint = { pointer: string; message: string }

/** Most complaints that one message lists. */
const LISTED_MAX = 20

/** A settings file that cannot be used. It is left as it is; the process exits 78. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly path: string
  readonly complaints: Complaint[]
  constructor(path: string, complaints: Complaint[]) {
    const listed = complaints.slice(0, LISTED_MAX).map(({ pointer, message }) => `${pointer || '/'}: ${message}`)
    const rest = complaints.length > LISTED_MAX ? [`and ${complaints.length - LISTED_MAX} more`] : []
    super([`${path} cannot be used:`, ...listed, ...rest].join('\n  '))
    this.path = path
    this.complaints = complaints
  }
}
