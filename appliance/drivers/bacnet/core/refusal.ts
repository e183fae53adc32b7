/** Formats refusals with the names of 135-2020 21 that occur on reads. */
import type { PropertyError, RequestRefusal } from './reply.ts'

/** The device has no such object. */
export const UNKNOWN_OBJECT = 31
/** The object has no such property. */
export const UNKNOWN_PROPERTY = 32

const ERROR_CODES: Record<number, string> = {
  0: 'other',
  2: 'configuration-in-progress',
  3: 'device-busy',
  25: 'operational-problem',
  27: 'read-access-denied',
  29: 'service-request-denied',
  30: 'timeout',
  31: 'unknown-object',
  32: 'unknown-property',
  42: 'invalid-array-index',
  43: 'cov-subscription-failed',
  44: 'not-cov-property',
  45: 'optional-functionality-not-supported',
  50: 'property-is-not-an-array',
  77: 'unknown-device',
}
const REJECT_REASONS: Record<number, string> = {
  0: 'other',
  1: 'buffer-overflow',
  2: 'inconsistent-parameters',
  3: 'invalid-parameter-data-type',
  4: 'invalid-tag',
  5: 'missing-required-parameter',
  6: 'parameter-out-of-range',
  7: 'too-many-arguments',
  8: 'undefined-enumeration',
  9: 'unrecognized-service',
}
const ABORT_REASONS: Record<number, string> = {
  0: 'other',
  1: 'buffer-overflow',
  2: 'invalid-apdu-in-this-state',
  3: 'preempted-by-higher-priority-task',
  4: 'segmentation-not-supported',
  5: 'security-error',
  9: 'out-of-resources',
  10: 'tsm-timeout',
  11: 'apdu-too-long',
}

export const formatError = ({ errorClass, errorCode }: PropertyError): string =>
  `error ${ERROR_CODES[errorCode] ?? `code ${errorCode}`} (class ${errorClass})`

export function formatRefusal(refusal: RequestRefusal): string {
  if (refusal.by === 'error') return formatError(refusal)
  const names = refusal.by === 'reject' ? REJECT_REASONS : ABORT_REASONS
  return `${refusal.by} ${names[refusal.reason] ?? refusal.reason}`
}
