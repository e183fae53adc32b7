/** Wires the interfaces of this edge to a hub and its priority history: HTTP routes, requests over MQTT, pages and the HTTPS port. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { edgeName } from '#shared/core/model/model.ts'
import type { Connectors } from '#shared/central/api/connectors.ts'
import type { Settings } from '#shared/core/env.ts'
import type { LevelMeaning } from '#shared/core/priority/priority-levels.ts'
import { Problem } from '#shared/core/problem.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import type { Route } from '#shared/node/http/route.ts'
import type { Service } from '#shared/node/service.ts'
import type { CONNECTOR_VARIABLES, UPLINK_VARIABLES } from '../env.ts'
import { renewedKitsFolder } from '../kit/edge-kits.ts'
import { connectorService } from './connector.ts'
import { connectorRoutes } from './connector-routes.ts'
import { openCursorKey } from './cursor-key.ts'
import { historyService, priorityOperations } from './history-service.ts'
import { openPriorityHistory, type PriorityHistory, type PriorityOptions } from './priority-history.ts'
import type { EdgeOperations } from '../services/responder.ts'
import { inspectionConnectorRoutes } from '../system/inspection-routes.ts'
import { inspectionOperations, type InspectionService } from '../system/inspection-service.ts'

type PriorityApiOptions = {
  settings: Settings<
    typeof CONNECTOR_VARIABLES & Pick<typeof UPLINK_VARIABLES, 'SERVICE_EDGE_STORE_DIR' | 'SERVICE_EDGE_KIT_DIR'>
  >
  history: Pick<PriorityHistory, 'journal' | 'schedule'>
  /** Names of the levels of priority arrays. */
  levels: () => LevelMeaning[]
  site_id: string
  edge_id: string
  /** Undefined where no hub is configured; no token is valid then. */
  kit: Kit | undefined
  /** Only where this process has pages; a process that polls alone answers nothing about itself. */
  inspection?: InspectionService | undefined
  version: string
  log: Logger
}

type PriorityApi = {
  /** For the hub over HTTP; only the token of the kit opens them. */
  routes: Route[]
  /** For the hub over MQTT. */
  operations: EdgeOperations
  /** For users of this appliance: the only edge that they can ask is this one. */
  own: Connectors
  /** The HTTPS port, when `SERVICE_CONNECTOR_PORT` is set. */
  services: Service[]
}

/** @throws Error when an HTTPS port is configured and the kit has no certificate for it */
export async function openPriorityApi(options: PriorityApiOptions): Promise<PriorityApi> {
  const { settings, history, levels, site_id, edge_id, kit, inspection, version, log } = options
  const { SERVICE_CONNECTOR_BIND: host, SERVICE_CONNECTOR_PORT: port, SERVICE_EDGE_KIT_DIR: kitPath } = settings
  const renewed = renewedKitsFolder(settings.SERVICE_EDGE_STORE_DIR)
  const cursorKey = await keyBesideJournal(join(settings.SERVICE_EDGE_STORE_DIR, 'priority'))
  const service = historyService({ edge_id, journal: history.journal, schedule: history.schedule, levels, cursorKey })
  const routes = (token: string | undefined) => [
    ...connectorRoutes(service, token),
    ...(inspection ? inspectionConnectorRoutes(inspection, token) : []),
  ]
  return {
    routes: routes(kit?.token),
    operations: { ...priorityOperations(service), ...(inspection && inspectionOperations(inspection)) },
    own: {
      nameOf: () => edgeName({ site_id, edge_id }),
      async ask(asked, operation, request) {
        const isOwn = asked.edge_id === edge_id && (asked.site_id ?? site_id) === site_id
        if (!isOwn) throw new Problem('unknown_edge', `This is ${edge_id}; it knows no edge ${asked.edge_id}`)
        return service.ask(operation, request)
      },
    },
    services: port === undefined ? [] : [await connectorService({ routes, kit, kitPath, renewed, host, port, version, log })],
  }
}

/**
 * The key is stored in the folder of the journal. When that folder is set aside, the key goes with it, so cursors into the old
 * journal are refused by the new one.
 */
const keyBesideJournal = async (dir: string) => (existsSync(dir) ? openCursorKey(dir) : randomBytes(32))

/** The priority history of an edge: the journal, the visits that fill it, and the interfaces that read it. */
export type PriorityServices = Pick<PriorityHistory, 'journal' | 'schedule'> &
  Pick<PriorityApi, 'operations' | 'routes' | 'own'> & { services: Service[] }

/** @throws Error as `openPriorityApi` does */
export async function openPriority(options: PriorityOptions & Omit<PriorityApiOptions, 'history'>): Promise<PriorityServices> {
  const history = await openPriorityHistory(options)
  const { operations, routes, own, services } = await openPriorityApi({ ...options, history })
  const { journal, schedule, service } = history
  return { journal, schedule, operations, routes, own, services: [service, ...services] }
}
