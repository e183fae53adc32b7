/**
 * Samples as a run has read them, in a file that grows by one record with each run. Derived data, like all that is packed:
 * what is damaged or was cut off is read from history again.
 */
import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { ReadSamples } from '#shared/core/ports.ts'
import type { Series } from '#shared/core/series.ts'
import { pack, unpack } from './packed.ts'

/** Eight bytes at the beginning of every record; the last is the version of its layout. */
const MAGIC = Buffer.from('PLENUMT1')
/** Before each record stands its length. */
const LENGTH_BYTES = 4

/** `points` say how many of the samples are theirs. Instants are distances from the one before, the first from `from`. */
type Kept = {
  owner: string
  from: number
  to: number
  points: [point_id: string, samples: number][]
  gaps: Float64Array
  values: Float64Array
}

/**
 * Reads the records that follow each other without a gap from `from` on.
 *
 * @param owner of whom the samples are: a record of another one does not count
 * @param until records beyond it are cut off, durably
 * @returns undefined when there is none; only points that are in every record
 * @throws Error when a file that cannot be read or cut cannot be removed either: some day it would be believed
 */
export function readSampleLog(path: string, owner: string, from: number, until: number): ReadSamples | undefined {
  if (!existsSync(path)) return undefined
  try {
    return readRecords(path, owner, from, until)
  } catch {
    rmSync(path, { recursive: true })
    return undefined
  }
}

function readRecords(path: string, owner: string, from: number, until: number): ReadSamples | undefined {
  const bytes = readFileSync(path)
  const kept: Kept[] = []
  let at = 0
  let to = from
  for (;;) {
    const found = recordAt(bytes, at)
    if (!found || found.kept.owner !== owner || found.kept.from !== to || found.kept.to > until) break
    kept.push(found.kept)
    to = found.kept.to
    at = found.end
  }
  if (at < bytes.length) cutOff(path, at)
  return kept.length > 0 ? { from, to, series: joined(kept) } : undefined
}

/** @param more what was read since the last record, or from the beginning: then it is the only one */
export function addToSampleLog(path: string, owner: string, more: ReadSamples, isFirst: boolean): void {
  const record = pack(MAGIC, keptOf(owner, more))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32LE(record.length)
  writeFileSync(path, Buffer.concat([length, record]), { flag: isFirst ? 'w' : 'a' })
}

function recordAt(bytes: Buffer, at: number): { kept: Kept; end: number } | undefined {
  if (at + LENGTH_BYTES > bytes.length) return undefined
  const start = at + LENGTH_BYTES
  const end = start + bytes.readUInt32LE(at)
  if (end > bytes.length) return undefined
  try {
    return { kept: unpack(MAGIC, bytes.subarray(start, end)) as Kept, end }
  } catch {
    return undefined
  }
}

/** What is cut off may have been contradicted: after a power cut it must not be back. */
function cutOff(path: string, at: number): void {
  const file = openSync(path, 'r+')
  try {
    ftruncateSync(file, at)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function keptOf(owner: string, { from, to, series }: ReadSamples): Kept {
  const all = [...series.values()]
  const n = all.reduce((sum, { ts }) => sum + ts.length, 0)
  const [gaps, values] = [new Float64Array(n), new Float64Array(n)]
  let at = 0
  for (const { ts, values: own } of all) {
    values.set(own, at)
    for (let i = 0; i < ts.length; i++) gaps[at + i] = ts[i]! - (i > 0 ? ts[i - 1]! : from)
    at += ts.length
  }
  return { owner, from, to, points: [...series].map(([point_id, { ts }]) => [point_id, ts.length]), gaps, values }
}

function joined(kept: Kept[]): Map<string, Series> {
  const totals = new Map<string, { records: number; samples: number }>()
  for (const [point_id, samples] of kept.flatMap(({ points }) => points)) {
    const total = totals.get(point_id) ?? { records: 0, samples: 0 }
    totals.set(point_id, { records: total.records + 1, samples: total.samples + samples })
  }
  const whole = new Map<string, Series>()
  for (const [point_id, { records, samples }] of totals) {
    if (records === kept.length) whole.set(point_id, { ts: new Float64Array(samples), values: new Float64Array(samples) })
  }
  const filled = new Map<string, number>()
  for (const { from, points, gaps, values } of kept) {
    let at = 0
    for (const [point_id, samples] of points) {
      const series = whole.get(point_id)
      const n = filled.get(point_id) ?? 0
      if (series) put(series, n, from, gaps.subarray(at, at + samples), values.subarray(at, at + samples))
      filled.set(point_id, n + samples)
      at += samples
    }
  }
  return whole
}

/** @param n where in the series the record's samples begin */
function put(series: Series, n: number, from: number, gaps: Float64Array, values: Float64Array): void {
  let t = from
  for (let i = 0; i < gaps.length; i++) series.ts[n + i] = t += gaps[i]!
  series.values.set(values, n)
}
