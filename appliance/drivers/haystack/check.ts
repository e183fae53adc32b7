/** Tests the connection to a Haystack server up to the value of a point, and names the step that fails. */
import { type ConnectionReport, type PointReport, reportSteps } from './core/connection-report.ts'
import { HaystackFailure } from './core/failure.ts'
import { type Dict, textOf } from './core/grid.ts'
import { type HaystackPoint, pointState } from './core/point.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import { HaystackClient } from './client.ts'
import { HaystackSession, type RequestOptions, type Server } from './session.ts'

/** Short, because a person waits for the result. */
const TIMEOUT_MS = 5000
/** Points that are tried until the server answers for one: some filters may be more than it can evaluate. */
const POINTS_MAX = 3
/** The filter that is tried when the catalogue has no point. */
const ANY_POINT = 'point'

/** `text`: the address as it is in the catalogue. */
export type CheckedPoint = { text: string; point: HaystackPoint }

/**
 * Opens a separate connection, logs in, asks for product and version, and reads one point as polling does.
 *
 * @param points of the catalogue; the first one that the server answers is enough
 */
export async function checkConnection(server: Server, points: readonly CheckedPoint[]): Promise<ConnectionReport> {
  const session = new HaystackSession(server, createSerialQueue(), Date.now)
  const client = new HaystackClient(session)
  const options = { timeoutMs: TIMEOUT_MS, retries: 0, signal: new AbortController().signal }
  const { endpoint, auth } = server
  try {
    const about = await client.about(options)
    const point = await readOne(client, points, options)
    const names = await orNull(client.ops(options))
    return {
      ok: true,
      endpoint: endpoint.href,
      auth,
      steps: reportSteps(endpoint, auth, undefined),
      server: {
        name: textOf(about.serverName) ?? null,
        product: textOf(about.productName) ?? null,
        version: textOf(about.productVersion) ?? null,
        haystack: textOf(about.haystackVersion) ?? null,
      },
      formats: await formatsOf(client, names, options),
      watches: names && names.has('watchSub') && names.has('watchPoll'),
      point,
    }
  } catch (error) {
    if (!(error instanceof HaystackFailure)) throw error
    const steps = reportSteps(endpoint, auth, error)
    return { ok: false, endpoint: endpoint.href, auth, steps, server: null, formats: null, watches: null, point: null }
  } finally {
    await session.close()
  }
}

/** @throws HaystackFailure of the first point when the server answers none of those tried */
async function readOne(client: HaystackClient, points: readonly CheckedPoint[], options: RequestOptions): Promise<PointReport> {
  // References first: they cost the server least.
  const isFilter = ({ point }: CheckedPoint) => 'filter' in point.address
  const tried = points.toSorted((a, b) => Number(isFilter(a)) - Number(isFilter(b))).slice(0, POINTS_MAX)
  let first: HaystackFailure | undefined
  for (const { text, point } of tried) {
    const { address } = point
    try {
      const { rows } =
        'ref' in address ? await client.readIds([address.ref], options) : await client.read(address.filter, 2, options)
      return {
        address: text,
        says: describe(
          rows.filter(({ id }) => id !== undefined && id !== null),
          point,
        ),
      }
    } catch (error) {
      if (!(error instanceof HaystackFailure)) throw error
      first ??= error
    }
  }
  if (first) throw first
  const { rows } = await client.read(ANY_POINT, 1, options)
  return { address: ANY_POINT, says: rows.length > 0 ? 'the server has points' : 'no record matches' }
}

function describe([record, ...more]: readonly Dict[], point: HaystackPoint): string {
  if (!record) return 'no record matches'
  if (more.length > 0) return 'more than one record matches'
  const { value, quality, reason } = pointState(record, point)
  return value === null ? reason! : `${value} ${point.unit}, ${quality}${reason === undefined ? '' : `: ${reason}`}`
}

const formatsOf = (
  client: HaystackClient,
  names: Set<string> | null,
  options: RequestOptions,
): Promise<string[] | null> | null =>
  names && (names.has('filetypes') || names.has('formats')) ? orNull(client.formats(options)) : null

/** Information that a server does not give is no failure of the connection. */
async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (error instanceof HaystackFailure) return null
    throw error
  }
}
