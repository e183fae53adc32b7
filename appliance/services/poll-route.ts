import type { PollStatus } from '#shared/core/poll/board.ts'
import { type Route, route } from '#shared/node/route.ts'

/** How polling goes: devices and points by state, with round trips and errors (contract §10). */
export const pollStatusRoute = (pollStatus: () => PollStatus): Route =>
  route({
    method: 'GET',
    path: '/api/bacnet/poll/status',
    auth: 'viewer',
    summary: 'How polling goes, device by device',
    handle: () => pollStatus(),
  })
