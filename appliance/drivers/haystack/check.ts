/** Tests the connection to a Haystack server, and names the step that fails. */
import { type ConnectionReport, reportSteps } from '#shared/core/haystack/connection.ts'
import { HaystackFailure } from '#shared/core/haystack/failure.ts'
import { textOf } from '#shared/core/haystack/grid.ts'
import { serial } from '../serial.ts'
import { type HaystackClient, haystackClient } from './client.ts'
import { openSession, type Patience, type Server } from './session.ts'

/** A person waits for the result. */
const TIMEOUT_MS = 5000

/** Opens a connection of its own, logs in anew and asks what the server is. */
export async function checkConnection(server: Server): Promise<ConnectionReport> {
  const session = openSession(server, serial(), Date.now)
  const client = haystackClient(session)
  const patience = { timeoutMs: TIMEOUT_MS, retries: 0, signal: new AbortController().signal }
  const { endpoint, auth } = server
  try {
    const about = await client.about(patience)
    const names = await orNull(client.ops(patience))
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
      formats: await formatsOf(client, names, patience),
      watches: names && names.has('watchSub') && names.has('watchPoll'),
    }
  } catch (error) {
    if (!(error instanceof HaystackFailure)) throw error
    const steps = reportSteps(endpoint, auth, error)
    return { ok: false, endpoint: endpoint.href, auth, steps, server: null, formats: null, watches: null }
  } finally {
    await session.close()
  }
}

const formatsOf = (client: HaystackClient, names: Set<string> | null, patience: Patience): Promise<string[] | null> | null =>
  names && (names.has('filetypes') || names.has('formats')) ? orNull(client.formats(patience)) : null

/** What a server does not say is no failure of the connection. */
async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (error instanceof HaystackFailure) return null
    throw error
  }
}
