import { HOUR } from '#shared/core/time.ts'
import { wallOf } from '#shared/core/zone.ts'
import { SITE_START, TIMEZONE } from '../../test/sim/building.ts'
import { SCRIPT } from '../../test/sim/faults.ts'
import type { SeenFinding } from './hub-client.ts'
import type { Options } from './options.ts'
import type { RunningSite } from './run.ts'

/** What a stranger is told once everything runs. */
export function greeting({ hubUrl, applianceUrl, folder }: RunningSite, { data, speed }: Options): string {
  const { admin, agent, viewer } = folder.kept.passwords
  const logins = folder.fresh
    ? `  log in as admin (${admin}), agent (${agent}) or viewer (${viewer})`
    : '  log in with the passwords of the first start; they are kept in secrets.json of the data folder'
  const end = data === undefined ? 'stops everything and removes its folder' : `stops everything; ${folder.path} is kept`
  return `
Plenum runs, with a simulated building at ${speed} times real time.

  hub        ${hubUrl}   the fleet, for an operator
  appliance  ${applianceUrl}   the box beside the air handler, for a technician
${logins}

  Faults of the first simulated hours:
${SCRIPT.filter(({ from }) => from < 4 * HOUR)
  .map(({ from, equipment_id, says }) => `    ${clockTime(SITE_START + from)}  ${equipment_id.padEnd(8)} ${says}`)
  .join('\n')}

  Findings appear below as they reach the hub. Ctrl-C ${end}.
`
}

export const findingLine = ({ from, equipment_id, rule_id, title }: SeenFinding, now: number): string =>
  `  ${clockTime(now)}  ${equipment_id.padEnd(8)} ${rule_id}: ${title}, since ${clockTime(Date.parse(from))}`

/** The building's wall clock, for example `13:05`. */
function clockTime(ms: number): string {
  const { hour, minute } = wallOf(ms, TIMEZONE)
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
}
