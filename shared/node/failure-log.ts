/** Logs one line when something begins to fail and one when it works again, however often it is tried in between. */
import { errorText } from '#shared/core/error-text.ts'
import type { Logger } from 'pino'

export type FailureLog = {
  failed(error: unknown): void
  worked(): void
}

/** What the machine refuses, such as a full disk, has a code and needs no stack. */
const isMachines = (error: unknown): boolean => typeof (error as { code?: unknown }).code === 'string'

/**
 * @param what that fails and what becomes of it, for example `the journal is not tidied up yet`
 * @param again what is so when it works
 */
export function failureLog(log: Logger, what: string, again: string): FailureLog {
  let failures = 0
  return {
    failed(error) {
      if (failures++ > 0) return
      log.error(isMachines(error) ? {} : { err: error }, `${what}: ${errorText(error)}`)
    },
    worked() {
      if (failures > 0) log.info({ failures }, again)
      failures = 0
    },
  }
}
