/** Priority history in a protocol process: journal, visits and the ways to ask for it. */
import type { Logger } from 'pino'
import type { Settings } from '#shared/core/env.ts'
import type { Clock } from '#shared/core/ports.ts'
import type { Service } from '#shared/node/service.ts'
import type { BacnetProtocol } from '../drivers/bacnet/protocol.ts'
import type { FIELDBUS_ENV } from '../env.ts'
import type { FieldCatalogue } from '../services/field-catalogue.ts'
import { openPriorityApi, type PriorityApi, type PriorityApiOptions } from './priority-api.ts'
import { openPriorityHistory } from './priority-history.ts'

/** What is known of the edge when its catalogue and kit have been read. */
export type PriorityPlace = Pick<PriorityApiOptions, 'site_id' | 'edge_id' | 'kit' | 'version'> & {
  catalogue: FieldCatalogue
  clock: Clock
}
export type PriorityParts = Pick<PriorityApi, 'answer' | 'routes'> & { services: Service[] }
export type OpenPriority = (place: PriorityPlace) => Promise<PriorityParts>

/** @returns what opens it once the process knows what it polls; it rejects as `openPriorityApi` does */
export const priorityOf =
  (parts: { settings: Settings<typeof FIELDBUS_ENV>; bacnet: BacnetProtocol; log: Logger }): OpenPriority =>
  async ({ catalogue, clock, ...edge }) => {
    const history = await openPriorityHistory({ ...parts, catalogue, clock })
    const { settings, log } = parts
    const { answer, routes, services } = await openPriorityApi({ settings, history, ...edge, log })
    return { answer, routes, services: [history.service, ...services] }
  }
