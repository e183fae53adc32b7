/** What an administrator sees of the process itself: its settings and the newest lines of its log. */
import type { Logger } from 'pino'
import type { Effective } from '#shared/core/env.ts'
import {
  LOG_BYTES_MAX,
  LOG_LEVELS,
  type LogAnswer,
  type LogLevel,
  type LogLine,
  type LogRequest,
} from '#shared/core/connector/inspection-wire.ts'
import { redact } from '#shared/core/redact.ts'
import { RecentLog } from '#shared/node/recent-log.ts'

export type Inspection = {
  /** Every setting with its value and source, secrets masked. */
  effective: Effective[]
  /** Values that nothing may show. */
  secrets: readonly string[]
  recent: RecentLog
  log: Logger
  /** Folder of the certificate of the pages; undefined where they are served without one. */
  tlsDir: string | undefined
  /** What the product adds to the file of diagnostics, by file name. */
  sources: Record<string, () => unknown>
}

/** As pino numbers them; a fatal line is shown as an error. */
const LEVEL_NUMBERS: Record<LogLevel, number> = { debug: 20, info: 30, warn: 40, error: 50 }

/** @returns at most `limit` lines and LOG_BYTES_MAX bytes of them, but at least one where there is one */
export function readLog(
  { recent, secrets, log }: Pick<Inspection, 'recent' | 'secrets' | 'log'>,
  { level: least = 'debug', limit = 100, before_line = Infinity }: LogRequest,
): LogAnswer {
  const { lines, total } = recent.read()
  const level = levelOf({ log })
  const page: LogLine[] = []
  let bytes = 0
  for (let number = Math.min(total, before_line - 1); number > total - lines.length; number--) {
    const line = parseLine(redact(lines[lines.length - 1 - (total - number)]!, secrets))
    if (!line || LEVEL_NUMBERS[line.level] < LEVEL_NUMBERS[least]) continue
    bytes += Buffer.byteLength(JSON.stringify(line))
    const isFull = page.length === limit || (page.length > 0 && bytes > LOG_BYTES_MAX)
    if (isFull) return { ok: true, level, lines: page, next_before_line: number + 1 }
    page.push(line)
  }
  return { ok: true, level, lines: page }
}

/** @returns undefined for a line that was cut, and is no JSON any more */
function parseLine(line: string): LogLine | undefined {
  try {
    const { time, level, msg = '', name: _name, ...fields } = JSON.parse(line)
    const known = LOG_LEVELS.findLast(one => LEVEL_NUMBERS[one] <= level) ?? 'debug'
    return { at: String(time), level: known, text: String(msg), fields }
  } catch {
    return undefined
  }
}

/** @returns the level that is logged now */
export const levelOf = ({ log }: Pick<Inspection, 'log'>): LogLevel => LOG_LEVELS.find(level => level === log.level) ?? 'info'

/** For a process that nobody looks into, such as a benchmark. */
export const withoutInspection = (effective: Effective[] = []): Omit<Inspection, 'log'> => {
  return { effective, secrets: [], recent: new RecentLog(), tlsDir: undefined, sources: {} }
}
