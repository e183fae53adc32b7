import pino, { type Logger } from 'pino'
import type { RecentLog } from './recent-log.ts'

/** Names of fields whose values are never logged, at the top and one level down. */
const SECRETS = ['password', 'token', 'access_token', 'authorization', 'cookie', 'secret', 'jwt', 'key']

/**
 * JSON lines on standard error, without secrets. A line that cannot be written, on a full disk, is dropped.
 *
 * @param recent also receives each line
 */
export function openLog(name: string, level: string, recent?: RecentLog): Logger {
  const redact = { paths: SECRETS.flatMap(field => [field, `*.${field}`]), censor: '********' }
  const out = pino.destination({ dest: 2, sync: true })
  out.on('error', () => undefined)
  const both = {
    write(line: string) {
      recent?.add(line)
      out.write(line)
    },
  }
  return pino({ name, level, redact, base: { name }, timestamp: pino.stdTimeFunctions.isoTime }, both)
}
