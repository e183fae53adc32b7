import { setTimeout as wait } from 'node:timers/promises'

/** Fields of a finding that the start reads (contract §6). */
export type SeenFinding = {
  finding_id: string
  rule_id: string
  equipment_id: string
  title: string
  from: string
  /** The finding that explains this one. */
  suppressed_by?: string
}
type SeenHealth = { ok: boolean; edges: number; ingest_ok: number; ingest_duplicate: number; ingest_rejected: number }

export type HubClient = {
  health(): Promise<SeenHealth>
  /** Findings on the hub that no other one explains, oldest first. */
  findings(): Promise<SeenFinding[]>
  get<T>(path: string): Promise<T>
}

/** No answer over loopback takes this long unless something is wrong. */
const ANSWER_MS = 20_000

/** The hub's API as a viewer sees it. @throws Error when the login is refused */
export async function openHubClient(base: string, password: string): Promise<HubClient> {
  const body = JSON.stringify({ username: 'viewer', password })
  const headers = { 'content-type': 'application/json' }
  const { token } = await request<{ token: string }>(`${base}/api/auth/login`, { method: 'POST', headers, body })
  const get = <T>(path: string) => request<T>(`${base}${path}`, { headers: { authorization: `Bearer ${token}` } })
  return {
    get,
    health: () => get('/api/health'),
    async findings() {
      const { findings } = await get<{ findings: SeenFinding[] }>('/api/fdd/findings?limit=1000')
      const shown = findings.filter(({ suppressed_by }) => suppressed_by === undefined)
      return shown.toSorted((a, b) => (a.from < b.from ? -1 : 1))
    },
  }
}

async function request<T>(url: string, init: RequestInit): Promise<T> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_MS) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${(await response.text()).slice(0, 300)}`)
  return (await response.json()) as T
}

/**
 * Waits until `GET /api/health` answers 200.
 *
 * @param given ends the wait early, with false
 * @returns false when it did not come to that within `patienceMs`
 */
export async function waitForHealth(base: string, patienceMs: number, given: () => boolean): Promise<boolean> {
  for (const end = Date.now() + patienceMs; Date.now() < end && !given(); await wait(100)) {
    const answer = await fetch(`${base}/api/health`, { signal: AbortSignal.timeout(5000) }).catch(() => undefined)
    await answer?.body?.cancel()
    if (answer?.status === 200) return true
  }
  return false
}
