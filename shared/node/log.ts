import pino, { type Logger } from 'pino'

/** Names of fields whose values are never logged, at the top and one level down. */
const SECRETS = ['password', 'token', 'access_token', 'authorization', 'cookie', 'secret', 'jwt', 'key']

/** JSON lines on standard error, without secrets. A line that cannot be written, on a full disk, is dropped. */
export function openLog(name: string, level: string): Logger {
  const redact = { paths: SECRETS.flatMap(field => [field, `*.${field}`]), censor: '********' }
  const out = pino.destination({ dest: 2, sync: true })
  out.on('error', () => undefined)
  return pino({ name, level, redact, base: { name }, timestamp: pino.stdTimeFunctions.isoTime }, out)
}
