/** The page of first steps, which ties the pages that set a box up together. */
import type { CentralContext } from '#shared/central/context.ts'
import { machineAddresses } from '#shared/central/diagnostics.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { commissionModel } from '#shared/central/pages/commission/commission-model.ts'
import { COMMISSION_STEPS } from '#shared/core/commission-steps.ts'
import { type Route, route } from '#shared/node/http/route.ts'
import { timeSynced } from '#shared/node/machine.ts'
import type { FirstFacts } from '../core/first-steps.ts'
import type { BoxEnrolment } from '../kit/enrolment.ts'
import type { PollStatus } from '#shared/core/poll/poll-status.ts'
import type { PublisherState } from '../services/publisher.ts'
import { waitsForStart } from '../store/change-building.ts'
import { isSilent } from './board-counts.ts'
import { FIRST_STEPS_PATH, firstStepsBody } from './first-steps.view.ts'
import type { SiteParts } from './site.route.ts'
import { say } from '#shared/node/http/language.ts'

/** Every interface has such an address, and nobody types it. */
const LINK_LOCAL = /^fe80:/i

type FirstStepsParts = {
  context: CentralContext
  site: SiteParts
  enrolment: Pick<BoxEnrolment, 'state'>
  hubState: () => PublisherState
  pollStatus: () => PollStatus
  restarts: boolean
  /** Whether the page Network can change anything. */
  setsNetwork: boolean
}

/** Reads stores alone, so that Home may ask with each refresh. */
export function firstFacts({
  context,
  site,
  enrolment,
  hubState,
}: Omit<FirstStepsParts, 'pollStatus' | 'restarts' | 'setsNetwork'>): FirstFacts {
  const { building_id, name } = site.file.current().building
  const users = context.users.list()
  return {
    admins: users.filter(
      ({ role, locked_at, must_change_password }) => role === 'admin' && locked_at === null && !must_change_password,
    ).length,
    building: { building_id, name },
    clock_synced: timeSynced(),
    clock_offset_ms: hubState().clock_offset_ms,
    isEnrolled: enrolment.state().state === 'enrolled',
    devices: site.catalogue().devices.length,
  }
}

export const firstStepsPage = (parts: FirstStepsParts, layout: PageLayout): Route =>
  route({
    method: 'GET',
    path: FIRST_STEPS_PATH,
    auth: 'viewer',
    summary: 'The path from a new box to one that reads a building',
    handle: async call => {
      const { context, site, enrolment, pollStatus, restarts, setsNetwork } = parts
      const { building } = site.running
      const stored = context.model.building(building.building_id)
      const commission = stored && (await commissionModel(context, stored))
      const body = firstStepsBody({
        facts: firstFacts(parts),
        building: site.file.current().building,
        waitsForStart: waitsForStart(site.file.current(), site.running),
        restarts,
        setsNetwork,
        addresses: machineAddresses().filter(({ address }) => !LINK_LOCAL.test(address)),
        enrolment: enrolment.state(),
        silent: pollStatus().devices.filter(({ state }) => isSilent(state)).length,
        commission: {
          points: commission?.facts.points ?? 0,
          left: COMMISSION_STEPS.filter(step => commission?.steps[step] !== 'done').length,
        },
        here: layout.here(),
        user: layout.userOf(call.caller),
        csrf: layout.csrfOf(call.caller),
      })
      return layout.document(call, { title: say`First steps`, current: FIRST_STEPS_PATH }, body)
    },
  })
