import { type CentralSettings, openWorkspaceOf } from '#shared/central/process.ts'
import type { Workspace } from '#shared/central/workspace.ts'

/** Each half minute a commit adds rows of some hundred points: in small pages they fill what is written (`scripts/bench wear`). */
const PAGE_BYTES = 1024

/**
 * The workspace of a box, whose database is made with small pages; one that is there keeps those that it has.
 *
 * @throws Error that names the setting, file or folder that cannot be used, or that another process has open
 */
export const openBoxWorkspace = (
  settings: CentralSettings,
  parts: Pick<Parameters<typeof openWorkspaceOf>[1], 'clock' | 'log'>,
): Promise<Workspace> => openWorkspaceOf(settings, { ...parts, pageBytes: PAGE_BYTES })
