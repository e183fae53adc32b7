/** What a hub asks of the process of a box: the newest lines of its log, how much is logged, and its file of diagnostics. */
import { type Static, type TProperties, Type } from '@sinclair/typebox'

const strict = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: false })
const ok = Type.Literal(true)

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]
/** Lines that one request returns at most. */
const LOG_LIMIT = 500
/** Most bytes of the lines of one answer, so that it fits into a message. The rest follows on the next page. */
export const LOG_BYTES_MAX = 192 * 1024

const LEVEL = Type.Union(LOG_LEVELS.map(level => Type.Literal(level)))
/** Lines are numbered from 1 since the start of the process. */
const LINE_NUMBER = Type.Integer({ minimum: 1 })

const LogLine = strict({
  at: Type.String({ maxLength: 64 }),
  level: LEVEL,
  text: Type.String(),
  fields: Type.Record(Type.String(), Type.Unknown()),
})
export type LogLine = Static<typeof LogLine>

export const LogRequest = strict({
  /** Least level of the lines; `debug` by default. */
  level: Type.Optional(LEVEL),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LOG_LIMIT, default: 100 })),
  /** Only lines before this one: `next_before_line` of the answer before. */
  before_line: Type.Optional(LINE_NUMBER),
})
export type LogRequest = Static<typeof LogRequest>

export const LogAnswer = strict({
  ok,
  /** Level that is logged now. */
  level: LEVEL,
  /** Newest first, without secrets. */
  lines: Type.Array(LogLine, { maxItems: LOG_LIMIT }),
  /** Absent where no older line of this level is retained. */
  next_before_line: Type.Optional(LINE_NUMBER),
})
export type LogAnswer = Static<typeof LogAnswer>

export const LogLevelRequest = strict({ level: LEVEL })
export type LogLevelRequest = Static<typeof LogLevelRequest>
export const LogLevelAnswer = strict({ ok, level: LEVEL })
export type LogLevelAnswer = Static<typeof LogLevelAnswer>

/** Largest file of diagnostics. The log is most of it: at most 1,000 lines of 4 KiB before they are compressed. */
export const DIAGNOSTICS_MAX = 8 * 2 ** 20
/** Bytes of one piece: as text within a message, and within the time of an answer over a slow mobile connection. */
export const DIAGNOSTICS_PIECE_MAX = 64 * 1024
/** Four characters of base64 are three bytes. */
const PIECE_TEXT_MAX = Math.ceil(DIAGNOSTICS_PIECE_MAX / 3) * 4

/** Without `file` a new one is made, and the answer has its first piece. */
export const DiagnosticsRequest = strict({
  file: Type.Optional(
    strict({
      file_id: Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$' }),
      /** Where the piece begins, bytes. */
      offset: Type.Integer({ minimum: 1, maximum: DIAGNOSTICS_MAX }),
    }),
  ),
})
export type DiagnosticsRequest = Static<typeof DiagnosticsRequest>

export const DiagnosticsAnswer = strict({
  ok,
  file_id: Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$' }),
  /** Of the whole file, a ZIP archive. */
  bytes: Type.Integer({ minimum: 1, maximum: DIAGNOSTICS_MAX }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  /** Base64. */
  piece: Type.String({ minLength: 1, maxLength: PIECE_TEXT_MAX, pattern: '^[A-Za-z0-9+/]*={0,2}$' }),
})
export type DiagnosticsAnswer = Static<typeof DiagnosticsAnswer>

export const INSPECTION_OPERATIONS = {
  log: { method: 'POST', path: () => '/api/connector/log', status: 200, request: LogRequest, answer: LogAnswer },
  log_level: {
    method: 'PUT',
    path: () => '/api/connector/log/level',
    status: 200,
    request: LogLevelRequest,
    answer: LogLevelAnswer,
  },
  diagnostics: {
    method: 'POST',
    path: () => '/api/connector/diagnostics',
    status: 200,
    request: DiagnosticsRequest,
    answer: DiagnosticsAnswer,
  },
} as const
