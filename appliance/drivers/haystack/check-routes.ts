/** "Test connection" as a command of the haystack process, and as its route while it runs. */
import { Type } from '@sinclair/typebox'
import { connectionLines, type ConnectionReport } from './core/connection-report.ts'
import { Problem } from '#shared/core/problem.ts'
import { type Route, route, type SharedToken } from '#shared/node/http/route.ts'
import { type HaystackAccess, serversOf } from './access.ts'
import { type CheckedPoint, checkConnection } from './check.ts'
import { haystackPoint } from './protocol.ts'
import type { Server } from './session.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import type { DeviceCatalogue } from '../../store/catalogue-schema.ts'
import type { FieldCatalogue } from '../../services/field-catalogue.ts'

const NO_DEVICE = 'config/field-devices.json has no device with protocol haystack, so there is no login to test'

async function checkAll(catalogue: DeviceCatalogue, access: HaystackAccess): Promise<ConnectionReport[]> {
  const reports: ConnectionReport[] = []
  for (const server of serversOf(catalogue, access)) reports.push(await checkConnection(server, pointsOf(server, catalogue)))
  return reports
}

/** Points that are read with this login. */
const pointsOf = ({ auth, username }: Server, { devices }: DeviceCatalogue): CheckedPoint[] =>
  devices
    .filter(({ haystack }) => haystack?.auth === auth && haystack.username === username)
    .flatMap(({ points }) => points.map(point => ({ text: point.address, point: haystackPoint(point) })))

/** @returns lines for the terminal, and the exit code: 0 when every login works */
export async function checkInTerminal(
  catalogue: DeviceCatalogue,
  access: HaystackAccess,
): Promise<{ lines: string[]; exit: number }> {
  const reports = await checkAll(catalogue, access)
  if (reports.length === 0) return { lines: [NO_DEVICE], exit: 1 }
  return { lines: reports.flatMap(connectionLines), exit: reports.every(({ ok }) => ok) ? 0 : 1 }
}

/** `POST /api/haystack/check`: one test at a time. */
export function haystackRoutes(catalogue: FieldCatalogue, access: HaystackAccess, token: string | undefined): Route[] {
  const inTurn = createSerialQueue()
  return [
    route({
      method: 'POST',
      path: '/api/haystack/check',
      auth: 'operator',
      bearer: { subject: 'local', value: token, variable: 'SERVICE_LOCAL_INGEST_TOKEN' } satisfies SharedToken,
      summary: 'Tests the connection to the Haystack server and names the step that fails',
      problems: ['not_found'],
      reply: Type.Object({ ok: Type.Literal(true) }, { additionalProperties: true }),
      handle: async () => {
        const reports = await inTurn(() => checkAll(catalogue.current(), access))
        if (reports.length === 0) throw new Problem('not_found', NO_DEVICE)
        return { ok: true, connected: reports.every(({ ok }) => ok), reports }
      },
    }),
  ]
}
