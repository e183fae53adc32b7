/** What an administrator sees of the process itself: its settings and the newest lines of its log. */
import type { Logger } from 'pino'
import type { Effective } from '#shared/core/env.ts'
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

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]
/** As pino numbers them; a fatal line is shown as an error. */
const LEVEL_NUMBERS: Record<LogLevel, number> = { debug: 20, info: 30, warn: 40, error: 50 }

/** Lines that one request returns at most. */
export const LOG_LIMIT = 500

export type LogLine = { at: string; level: LogLevel; text: string; fields: Record<string, unknown> }

/** @returns the newest lines of at least this level, newest first, without secrets */
export function readLog({ recent, secrets }: Inspection, least: LogLevel, limit: number): LogLine[] {
  const lines = recent.read().lines.flatMap(line => parseLine(redact(line, secrets)) ?? [])
  return lines
    .filter(({ level }) => LEVEL_NUMBERS[level] >= LEVEL_NUMBERS[least])
    .slice(-limit)
    .toReversed()
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
