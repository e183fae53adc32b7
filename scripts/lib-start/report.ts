import { HOUR } from '#shared/core/time.ts'
import { dateOf, wallOf } from '#shared/core/time-zone.ts'
import { SITE_START, TIMEZONE } from '../simulator/building/building.ts'
import { SCRIPT } from '../simulator/building/faults.ts'
import { OVERRIDES } from '../simulator/building/overrides.ts'
import type { SeenFinding } from './hub-client.ts'
import type { Options } from './options.ts'
import type { RunningSite } from './run.ts'

/** Text for a new user once everything runs. */
export function greeting(site: RunningSite, { data, speed }: Options): string {
  const { hubUrl, applianceUrl, folder } = site
  const { admin, agent, viewer } = folder.kept.passwords
  const logins = folder.fresh
    ? `log in as admin (${admin}), agent (${agent}) or viewer (${viewer})`
    : 'log in with the passwords of the first start; secrets.json in the data folder has them'
  const end = data === undefined ? 'stops everything and removes its folder' : `stops everything; ${folder.path} is kept`
  return `
Plenum runs, with a simulated building at ${speed} times real time.

  hub        ${hubUrl}   the fleet, for an operator
  appliance  ${applianceUrl}   the box beside the air handler, for a technician
  ${logins}

${folder.fresh ? firstFaults() : `  In the building it is ${dateOf(site.now(), TIMEZONE)} ${clockTime(site.now())}.`}

  Findings appear below as they reach the hub. Ctrl-C ${end}.
`
}

/** The faults that a watcher will see first. */
function firstFaults(): string {
  const lines = SCRIPT.filter(({ from }) => from < 4 * HOUR).map(
    ({ from, equipment_id, says }) => `    ${clockTime(SITE_START + from)}  ${equipment_id.padEnd(8)} ${says}`,
  )
  const held = OVERRIDES.filter(({ from }) => from < 4 * HOUR).map(
    ({ from, point_id, says }) => `    ${(from < 0 ? 'before' : clockTime(SITE_START + from)).padEnd(6)}  ${point_id}: ${says}`,
  )
  return ['  Faults of the first simulated hours:', ...lines, '  What people hold (Overrides, on the appliance):', ...held].join(
    '\n',
  )
}

export const findingLine = ({ from, equipment_id, rule_id, title }: SeenFinding, now: number): string =>
  `  ${clockTime(now)}  ${equipment_id.padEnd(8)} ${rule_id}: ${title}, since ${clockTime(Date.parse(from))}`

/** The building's wall clock, for example `13:05`. */
function clockTime(ms: number): string {
  const { hour, minute } = wallOf(ms, TIMEZONE)
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
}
