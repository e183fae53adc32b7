/** The rules on this box: the history that they read, and their findings as the outbox sends them to a hub. */
import type { Logger } from 'pino'
import type { Finding } from '#shared/core/findings/finding.ts'
import type { Clock, FindingReader } from '#shared/core/ports.ts'
import type { Workspace } from '#shared/central/workspace.ts'
import { failureLog } from '#shared/node/failure-log.ts'
import type { LookUpFindings } from '../core/outbox/outbox-messages.ts'
import type { Outbox } from '../sinks/outbox.ts'
import { historianSink } from '../sinks/historian-sink.ts'
import type { SiteSettings } from '../store/site.ts'
import type { LocalRules } from './edge.ts'
import { factOfPoint, type FieldCatalogue } from './field-catalogue.ts'
import { versionNotBefore } from '#shared/node/version-not-before.ts'

export function localRules(parts: {
  workspace: Workspace
  site: SiteSettings
  catalogue: FieldCatalogue
  clock: Clock
}): LocalRules {
  const { workspace, site, catalogue, clock } = parts
  const { historian, stores, ballast } = workspace
  const { model, misdated, findings, results } = stores
  const { building_id } = site.building
  const statesOf = factOfPoint(catalogue, ({ states }) => states)
  return {
    history: historianSink({
      ...{ historian, misdated, building_id, statesOf, clock },
      ...{ notBefore: () => versionNotBefore(clock), needRoom: ballast.needRoom },
    }),
    lookUpFindings: ids => currentFindings(findings, ids),
    knownPoints: () => model.points(building_id),
    lastCheckAt: () => results.runs({ building_id, limit: 1 })[0]?.finished_at ?? null,
  }
}

/** @returns which of these findings exist now, and the ids of those that do not */
function currentFindings(stored: Pick<FindingReader, 'get'>, finding_ids: string[]): ReturnType<LookUpFindings> {
  const findings = finding_ids.flatMap(id => stored.get(id) ?? [])
  const existing = new Set(findings.map(({ finding_id }) => finding_id))
  return { findings, withdrawn: finding_ids.filter(id => !existing.has(id)) }
}

/** @returns writes findings to the outbox; rejects when it cannot. Where there is none it does nothing */
export function findingsSender(outbox: Outbox | undefined, log: Logger) {
  const writing = failureLog(log, 'findings not written to the outbox', 'findings are written to the outbox again')
  return async (findings: Finding[], withdrawn?: string[]): Promise<void> => {
    try {
      await outbox?.putFindings(findings, withdrawn)
      writing.worked()
    } catch (error) {
      writing.failed(error)
      throw error
    }
  }
}
