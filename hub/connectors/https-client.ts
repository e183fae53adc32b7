/** Sends requests to an edge that has an HTTPS address; the certificate authority is the project's, the token the edge's. */
import { Agent, request as httpsRequest } from 'node:https'
import { errorText } from '#shared/core/error-text.ts'
import { isTooDeep, JSON_DEPTH_MAX } from '#shared/core/json-depth.ts'
import { OPERATIONS } from '#shared/core/connector/edge-operations.ts'
import { Problem } from '#shared/core/problem.ts'
import { MESSAGE_MAX } from '#shared/core/telemetry/body.ts'
import { edgeToken } from '#shared/node/auth/edge-token.ts'
import type { Current } from '#shared/node/watched-files.ts'
import { TLS_MINIMUM } from '#shared/node/pki/tls-minimum.ts'
import type { EdgeClient } from './edge-client.ts'

export type ConnectorFiles = {
  ca_pem: string
  /** Key from which the edges' tokens are derived; undefined where the hub has none, and then every request fails. */
  tokensKey: string | undefined
}
type HttpsClientOptions = {
  /** Tenant of the edges; equal edge names of two tenants have different tokens. */
  tenant_id: string | undefined
  files: Current<ConnectorFiles>
  timeoutMs: number
}

/** Redirects are not followed, so the token is sent only to the edge's address. */
export function createHttpsClient({ tenant_id, files, timeoutMs }: HttpsClientOptions): EdgeClient & { close(): void } {
  // No keep-alive: an idle connection may have been closed unnoticed, and requests are rare.
  const agent = new Agent({ ...TLS_MINIMUM, keepAlive: false })
  const send: EdgeClient = async ({ edge_id, site_id, connector_url }, operation, edgeRequest) => {
    const { ca_pem: ca, tokensKey } = files.current()
    if (tokensKey === undefined)
      throw new Problem('edge_unreachable', 'This hub has no file edge-tokens.key beside its certificate')
    const { method, path } = OPERATIONS[operation]
    const endpoint = path(encodeURIComponent((edgeRequest as { visit_id?: string }).visit_id ?? ''))
    const url = new URL(endpoint.slice(1), connector_url)
    const body = method === 'GET' ? undefined : JSON.stringify(edgeRequest)
    const headers = {
      authorization: `Bearer ${edgeToken(tokensKey, { tenant_id, site_id, edge_id })}`,
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    }
    const signal = AbortSignal.timeout(timeoutMs)
    try {
      const { status, text } = await exchange(url, { method, headers, agent, ca, signal }, body)
      return { status, body: parse(text, edge_id) }
    } catch (error) {
      if (error instanceof Problem) throw error
      if (signal.aborted)
        throw new Problem('edge_timeout', `${edge_id} at ${url.host} did not answer within ${timeoutMs / 1000} s`)
      throw new Problem('edge_unreachable', `${edge_id} at ${url.host} cannot be reached: ${errorText(error)}`)
    }
  }
  return Object.assign(send, { close: () => agent.destroy() })
}

type Options = { method: string; headers: Record<string, string | number>; agent: Agent; ca: string; signal: AbortSignal }

/** @throws Problem edge_failed when the response is too long; Error when the connection fails */
function exchange(url: URL, options: Options, body: string | undefined): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(url, options, response => {
      const parts: Buffer[] = []
      let bytes = 0
      response.on('data', (part: Buffer) => {
        bytes += part.length
        parts.push(part)
        if (bytes <= MESSAGE_MAX) return
        reject(new Problem('edge_failed', `The response of ${url.host} has more than ${MESSAGE_MAX} bytes`))
        request.destroy()
      })
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }))
    })
    request.on('error', reject)
    request.end(body)
  })
}

function parse(text: string, edge_id: string): unknown {
  if (isTooDeep(text)) throw new Problem('edge_failed', `The response of ${edge_id} is nested deeper than ${JSON_DEPTH_MAX}`)
  try {
    return JSON.parse(text)
  } catch {
    throw new Problem('edge_failed', `The response of ${edge_id} is not JSON`)
  }
}
