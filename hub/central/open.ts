/** Central as a hub has it: what edges send is taken in, edges are asked, and the fleet is shown. */
import type { Central } from '#shared/central/central.ts'
import { ingestDesk } from '#shared/central/ingest-service.ts'
import type { Shell } from '#shared/central/pages/shell.ts'
import { openCentralFor, type ProcessParts } from '#shared/central/process.ts'
import { pollStatusRoute } from '#shared/central/api/poll.ts'
import type { Route } from '#shared/node/http/route.ts'
import { openInbox, withRoom } from '#shared/node/store/inbox.ts'
import type { CentralFiles } from '../broker/files.ts'
import { openConnectors } from '../connectors/open.ts'
import { hubHealth } from '../ingest/health.ts'
import { ingestService } from '../ingest/ingest.ts'
import { hubOverrides } from '../pages/overrides.route.ts'
import { fleetRoutes } from '../pages/fleet.route.ts'

type Parts = Pick<ProcessParts, 'service' | 'effective' | 'clock' | 'log'> & {
  /** Undefined where no broker is heard. */
  files: CentralFiles | undefined
  broker: { host: string; port: number }
}

/**
 * @returns `desk` starts before anything comes in, `hearing` when a broker is there
 * @throws Error that names the file or folder that cannot be opened or written
 */
export async function openHubCentral(settings: Parameters<typeof openCentralFor>[0], { files, broker, ...parts }: Parts) {
  const { clock, log } = parts
  const health = hubHealth(() => ({ edges: context.edges, claims: context.edgeClaims, desk, broker: ingest }), clock.now)
  const own = { ...parts, scheduled: true, onFindings: () => undefined, health }
  const central: Central = await openCentralFor(settings, own)
  const { context, db } = central
  const { model, edges, edgeClaims: claims } = context
  const desk = ingestDesk({ inbox: withRoom(openInbox(db), central.ballast.needRoom), model, edges, claims, clock, log })
  const connectors = openConnectors({ edges, files, publish: async (topic, body) => ingest?.publish(topic, body) })
  const ingest = files && ingestService({ broker, ...files, desk, onResponse: connectors.onResponse, log })
  const routes = (shell: Shell): Route[] => [
    ...fleetRoutes(context, shell),
    pollStatusRoute(desk),
    ...connectors.routes,
    ...hubOverrides({ context, shell, connectors: connectors.asked }),
  ]
  return { central, desk, hearing: [...(ingest ? [ingest] : []), connectors.service], routes }
}
