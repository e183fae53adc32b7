/** Central as a box has it, in a folder of the test, with a login for each role. */
import { createCentral } from '#shared/central/central.ts'
import { withoutInspection } from '#shared/central/inspection.ts'
import { openWorkspace } from '#shared/central/workspace.ts'
import { wallClock } from '#shared/node/clock.ts'
import { takeParsedRules } from '../rules/parsed-rules.ts'
import { SILENT, site } from './catalogue-site.ts'

const VERSION = '0.1.0+d792499f00aa'
export const PASSWORDS = { admin: 'admin-password-1', agent: 'agent-password-1', viewer: 'viewer-password-1' }

export async function openBoxCentral(workspace: string) {
  const own = { memoryMb: 128, clock: wallClock, log: SILENT }
  takeParsedRules(workspace, VERSION)
  const opened = await openWorkspace({ ...own, path: workspace, parquetRoot: undefined, ballastBytes: 64 * 1024 })
  const central = createCentral(opened, {
    ...own,
    service: 'test',
    version: VERSION,
    inspection: withoutInspection(),
    site_id: site.site_id,
    auth: { secret: 'a secret of at least thirty-two characters', passwords: PASSWORDS, trustedProxies: [] },
    scheduled: false,
    restore: { site_id: site.site_id, isNew: false, refuse: () => undefined },
    onFindings: () => undefined,
    health: {
      checks: {},
      counters: () => ({ edges: 0, ingest_ok: 0, ingest_duplicate: 0, ingest_rejected: 0, last_ingest_at: null }),
    },
  })
  central.context.model.put({ building: { ...site.building, site_id: site.site_id } })
  return { ...opened, ...central, services: [...opened.services, ...central.services] }
}
