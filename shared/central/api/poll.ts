import { mergePollStatus } from '#shared/core/poll/merged.ts'
import type { PollStatus } from '#shared/core/poll/poll-status.ts'
import { type Route, route } from '#shared/node/http/route.ts'
import type { IngestDesk } from '#shared/central/ingest-service.ts'

/**
 * How polling goes: devices and points by state, with round trips and errors (contract §10), here and at the edges that
 * report to this central.
 *
 * @param own what this process polls; undefined where it has no driver
 */
export const pollStatusRoute = (desk: Pick<IngestDesk, 'flow'>, own?: () => PollStatus): Route =>
  route({
    method: 'GET',
    path: '/api/bacnet/poll/status',
    auth: 'viewer',
    summary: 'How polling goes, device by device, here and at the edges',
    handle: () => mergePollStatus(own?.(), desk.flow.book.reported()),
  })
