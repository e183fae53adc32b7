import pino, { type Logger } from 'pino'

/** Field names whose values never reach a log, at the top and one level down. */
const SECRETS = ['password', 'token', 'access_token', 'authorization', 'cookie', 'secret', 'jwt', 'key']

/** JSON lines on standard error, secrets redacted. A line that cannot be written, on a full disk, is dropped: nothing stops. */
export function openLog(name: string, level: string): Logger {
  const redact = { paths: SECRETS.flatMap(field => [field, `*.${field}`]), censor: '********' }
  const out = pino.destination({ dest: 2, sync: true })
  out.on('error', () => undefined)
  return pino({ name, level, redact, base: { name }, timestamp: pino.stdTimeFunctions.isoTime }, out)
}
