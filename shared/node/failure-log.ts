/** Logs one line when an operation begins to fail and one when it works again, however often it is tried in between. */
import { errorText } from '#shared/core/error-text.ts'
import type { Logger } from 'pino'

export type FailureLog = {
  failed(error: unknown): void
  worked(): void
}

/** Errors of the operating system, such as a full disk, have a code and need no stack. */
const isSystemError = (error: unknown): boolean => typeof (error as { code?: unknown }).code === 'string'

/**
 * @param what the failing operation and the consequence, for example `the journal is not tidied up yet`
 * @param again the state when it works again
 */
export function failureLog(log: Logger, what: string, again: string): FailureLog {
  let failures = 0
  return {
    failed(error) {
      if (failures++ > 0) return
      log.error(isSystemError(error) ? {} : { err: error }, `${what}: ${errorText(error)}`)
    },
    worked() {
      if (failures > 0) log.info({ failures }, again)
      failures = 0
    },
  }
}
