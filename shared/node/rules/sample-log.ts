/**
 * Samples that runs have read, in a file that grows by one record with each run. It is derived data: damaged or missing
 * records are read from history again.
 */
import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { KeptSamples, ReadSamples } from '#shared/core/ports.ts'
import { appendSeries, type Series } from '#shared/core/series/series.ts'
import { pack, unpack } from './packed.ts'

/** The first eight bytes of every record; the last one is the version of its layout. */
const MAGIC = Buffer.from('PLENUMT1')
/** The length before each record. */
const LENGTH_BYTES = 4

/** Number of records after which they are merged: each takes as long to read as hundreds of samples. */
const PIECES_MAX = 6

/**
 * One record. `points` gives the number of samples of each point. Instants are differences to the one before, the first to
 * `from`.
 */
type SampleRecord = {
  owner: string
  from: number
  to: number
  points: [point_id: string, samples: number][]
  gaps: Float64Array
  values: Float64Array
}

/**
 * Reads the consecutive records. The first may begin before `from`: earlier samples tell which of the later ones are believed.
 *
 * @param owner owner of the samples; a record of another owner is not used
 * @param until later records are cut off, durably
 * @returns undefined when there is none; only points that are in every record
 * @throws Error when a file that cannot be read or cut cannot be removed either: a later run would use it
 */
export function readSampleLog(path: string, owner: string, from: number, until: number): KeptSamples | undefined {
  if (!existsSync(path)) return undefined
  try {
    return readRecords(path, owner, from, until)
  } catch {
    rmSync(path, { recursive: true })
    return undefined
  }
}

function readRecords(path: string, owner: string, from: number, until: number): KeptSamples | undefined {
  const bytes = readFileSync(path)
  const kept: SampleRecord[] = []
  let at = 0
  let to: number | undefined
  for (;;) {
    const found = recordAt(bytes, at)
    if (!found || found.kept.owner !== owner || found.kept.to > until) break
    if (to === undefined ? found.kept.from > from : found.kept.from !== to) break
    kept.push(found.kept)
    to = found.kept.to
    at = found.end
  }
  if (at < bytes.length) cutOff(path, at)
  if (to === undefined) return undefined
  return { from: kept[0]!.from, to, series: kept.map(seriesOf).reduce(joined), pieces: kept.length }
}

/** @param before the result of `readSampleLog` that `more` continues; without it `more` is the only record */
export function addToSampleLog(path: string, owner: string, more: ReadSamples, before: KeptSamples | undefined): void {
  const isNext = before && before.pieces < PIECES_MAX
  const whole = before && !isNext ? { from: before.from, to: more.to, series: joined(before.series, more.series) } : more
  const record = pack(MAGIC, keptOf(owner, whole))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32LE(record.length)
  writeFileSync(path, Buffer.concat([length, record]), { flag: isNext ? 'a' : 'w' })
}

function recordAt(bytes: Buffer, at: number): { kept: SampleRecord; end: number } | undefined {
  if (at + LENGTH_BYTES > bytes.length) return undefined
  const start = at + LENGTH_BYTES
  const end = start + bytes.readUInt32LE(at)
  if (end > bytes.length) return undefined
  try {
    return { kept: unpack(MAGIC, bytes.subarray(start, end)) as SampleRecord, end }
  } catch {
    return undefined
  }
}

/** The cut records may disagree with history: after a power cut they must not be back. */
function cutOff(path: string, at: number): void {
  const file = openSync(path, 'r+')
  try {
    ftruncateSync(file, at)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function keptOf(owner: string, { from, to, series }: ReadSamples): SampleRecord {
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

function seriesOf({ from, points, gaps, values }: SampleRecord): Map<string, Series> {
  const series = new Map<string, Series>()
  let at = 0
  for (const [point_id, samples] of points) {
    const ts = new Float64Array(samples)
    let t = from
    for (let i = 0; i < samples; i++) ts[i] = t += gaps[at + i]!
    series.set(point_id, { ts, values: values.subarray(at, at + samples) })
    at += samples
  }
  return series
}

/** Points that are in both. */
function joined(before: ReadSamples['series'], after: ReadSamples['series']): Map<string, Series> {
  return new Map(
    [...before].flatMap(([point_id, series]) => {
      const more = after.get(point_id)
      return more ? [[point_id, appendSeries(series, more)]] : []
    }),
  )
}
