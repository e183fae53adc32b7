/** The command that changes how much is logged, which the page and the API both call. */
import type { CentralContext } from '#shared/central/context.ts'
import { levelOf } from '#shared/central/inspection.ts'
import type { LogLevel } from '#shared/core/connector/inspection-wire.ts'
import type { Actor } from './command.ts'

/** Logs at this level until the next start; the setting of the process stays as it is. */
export function setLogLevel(
  { inspection }: Pick<CentralContext, 'inspection'>,
  { audit }: Pick<Actor, 'audit'>,
  level: LogLevel,
): void {
  const before = levelOf(inspection)
  inspection.log.level = level
  audit({ subject: 'log', before: { level: before }, after: { level } })
}
