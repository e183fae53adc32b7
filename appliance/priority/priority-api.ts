/** Everything through which the priority history of this edge is asked for, as the mains wire it. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { edgeName } from '#shared/core/model/model.ts'
import type { Connectors } from '#shared/central/api/connectors.ts'
import type { Settings } from '#shared/core/env.ts'
import { Problem } from '#shared/core/problem.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import type { Route } from '#shared/node/http/route.ts'
import type { Service } from '#shared/node/service.ts'
import type { CONNECTOR_VARIABLES, UPLINK_VARIABLES } from '../env.ts'
import { connectorService } from './connector.ts'
import { openCursorKey } from './cursor-key.ts'
import { priorityDesk } from './history-service.ts'
import type { PriorityHistory } from './history.ts'
import { type Responder, responder } from './responder.ts'
import { connectorRoutes } from './connector-routes.ts'

export type PriorityApiOptions = {
  settings: Settings<typeof CONNECTOR_VARIABLES & Pick<typeof UPLINK_VARIABLES, 'SERVICE_EDGE_STORE_DIR'>>
  history: Pick<PriorityHistory, 'journal' | 'scanner'>
  site_id: string
  edge_id: string
  /** Undefined where no hub is known; nobody has a token then. */
  kit: Kit | undefined
  version: string
  log: Logger
}

export type PriorityApi = {
  /** For the hub; only the token of the kit opens them. */
  routes: Route[]
  /** For the hub, over the broker. */
  answer: Responder
  /** For those who log in on the box: the edge that they can ask is this one. */
  own: Connectors
  /** The HTTPS port of its own, where there is one. */
  services: Service[]
}

/** @throws Error when an HTTPS port is wanted and the kit has no certificate for it */
export async function openPriorityApi(options: PriorityApiOptions): Promise<PriorityApi> {
  const { settings, history, site_id, edge_id, kit, version, log } = options
  const { SERVICE_CONNECTOR_BIND: host, SERVICE_CONNECTOR_PORT: port } = settings
  const cursorKey = await keyBeside(join(settings.SERVICE_EDGE_STORE_DIR, 'priority'))
  const desk = priorityDesk({ edge_id, journal: history.journal, scanner: history.scanner, cursorKey })
  return {
    routes: connectorRoutes(desk, kit?.token),
    answer: responder(desk, log),
    own: {
      nameOf: () => edgeName({ site_id, edge_id }),
      async ask(asked, operation, request) {
        const isOwn = asked.edge_id === edge_id && (asked.site_id ?? site_id) === site_id
        if (!isOwn) throw new Problem('unknown_edge', `This is ${edge_id}; it knows no edge ${asked.edge_id}`)
        return desk.ask(operation, request)
      },
    },
    services: port === undefined ? [] : [await connectorService({ desk, kit, host, port, version, log })],
  }
}

/** It lies with the journal and goes with it: cursors into one that was put aside mean nothing in the next. */
const keyBeside = async (dir: string) => (existsSync(dir) ? openCursorKey(dir) : randomBytes(32))
