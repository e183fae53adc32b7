/**
 * Reads a telemetry message as `writeTelemetry` writes it, its points straight from the text. Edges that send what they kept send
 * millions of points, and `JSON.parse` makes three values of each that are garbage a moment later.
 */
import { isId } from '#shared/core/model/model.ts'
import { usualInstant } from '../time.ts'
import { parseBody } from './body.ts'
import { QUALITIES, type Quality, type Reading, type Value } from './reading.ts'
import { MESSAGE_POINTS_MAX } from './telemetry.ts'

/** `body` is the message without its points. */
type UsualMessage = { body: Record<string, unknown>; readings: Reading[] }

const [POINTS, END] = ['"points":[', ']}']
/** What a point has before each of its members. */
const [ID, TIME, VALUE, QUALITY] = ['{"id":"', '","t":"', '","v":', ',"q":"']
/** How a point ends, by its quality. */
const ENDS: readonly [string, Quality][] = QUALITIES.map(quality => [`${quality}"}`, quality])
const [COMMA, MINUS, DOT, ZERO] = [0x2c, 0x2d, 0x2e, 0x30]
/** Any whole number of so many digits is a double, and so is each of these powers, so their quotient is rounded once. */
const DIGITS_MAX = 15
const POWERS = Array.from({ length: DIGITS_MAX + 1 }, (_, i) => 10 ** i)

/** @returns undefined for any other text, which may be a valid message all the same */
export function readUsual(text: string): UsualMessage | undefined {
  const start = text.indexOf(POINTS) + POINTS.length
  if (start < POINTS.length || !text.endsWith(END)) return undefined
  const readings = new Points(text, start, text.length - END.length).read()
  if (!readings || readings.length > MESSAGE_POINTS_MAX) return undefined
  const body = parseBody(text.slice(0, start) + END)
  return body.ok ? { body: body.value, readings } : undefined
}

class Points {
  readonly #text: string
  readonly #end: number
  #at: number

  constructor(text: string, start: number, end: number) {
    this.#text = text
    this.#at = start
    this.#end = end
  }

  read(): Reading[] | undefined {
    const readings: Reading[] = []
    do {
      const reading = this.#point()
      if (!reading) return undefined
      readings.push(reading)
    } while (this.#text.charCodeAt(this.#at++) === COMMA)
    return this.#at - 1 === this.#end ? readings : undefined
  }

  #point(): Reading | undefined {
    const id = this.#skip(ID) ? ownId(this.#text.slice(this.#at, (this.#at = this.#quote()))) : undefined
    if (id === undefined || !this.#skip(TIME)) return undefined
    const t = usualInstant(this.#text, this.#at, (this.#at = this.#quote()))
    if (t === undefined || !this.#skip(VALUE)) return undefined
    const v = this.#value()
    if (v === undefined || !this.#skip(QUALITY)) return undefined
    for (const [end, q] of ENDS) if (this.#skip(end)) return { id, t, v, q }
    return undefined
  }

  #skip(expected: string): boolean {
    if (!this.#text.startsWith(expected, this.#at)) return false
    this.#at += expected.length
    return true
  }

  #quote(): number {
    const at = this.#text.indexOf('"', this.#at)
    return at < 0 ? this.#end : at
  }

  #value(): Value | undefined {
    const begin = this.#at
    const decimal = this.#decimal()
    if (decimal !== undefined && this.#text.charCodeAt(this.#at) === COMMA) return decimal
    const end = this.#text.indexOf(QUALITY, begin)
    const value = end < 0 ? undefined : primitive(this.#text.slice(begin, end))
    this.#at = end
    return value
  }

  /** Reads a number of few digits without an exponent, as nearly all are. */
  #decimal(): number | undefined {
    const text = this.#text
    const isNegative = text.charCodeAt(this.#at) === MINUS
    const begin = isNegative ? this.#at + 1 : this.#at
    let [number, at, point] = [0, begin, -1]
    for (; at < begin + DIGITS_MAX; at++) {
      const char = text.charCodeAt(at)
      if (char === DOT && point < 0 && at > begin) point = at
      else if (char >= ZERO && char <= ZERO + 9) number = 10 * number + char - ZERO
      else break
    }
    const isWhole = point < 0
    const digits = (isWhole ? at : point) - begin
    if (digits === 0 || (digits > 1 && text.charCodeAt(begin) === ZERO) || point === at - 1) return undefined
    this.#at = at
    const value = isWhole ? number : number / POWERS[at - point - 1]!
    return isNegative ? -value : value
  }
}

/** Ids of points by themselves, so that each is checked and copied once. */
const ids = new Map<string, string>()
/** They have 6 MB at most. */
const IDS_MAX = 32_768

/** @returns a copy of an id: a part of a text keeps the whole text in memory. undefined where it is no id */
function ownId(part: string): string | undefined {
  const known = ids.get(part)
  if (known !== undefined || !isId(part)) return known
  if (ids.size >= IDS_MAX) ids.clear()
  const own = Buffer.from(part).toString()
  ids.set(own, own)
  return own
}

/** How a number, true, false and null begin: no text, and nothing that is nested. */
const PRIMITIVE = /^[-\dtfn]/

/** Reads what is no such number. @returns undefined for what only the reader of any message can tell */
function primitive(text: string): Value | undefined {
  if (!PRIMITIVE.test(text)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return value === null || typeof value === 'boolean' || Number.isFinite(value) ? (value as Value) : undefined
  } catch {
    return undefined
  }
}
