/** Restoring by page and API: a backup is uploaded, checked beside the workspace, confirmed, and put in its place by the next start. */
import { createWriteStream } from 'node:fs'
import type { Writable } from 'node:stream'
import { Problem } from '#shared/core/problem.ts'
import type { AuditStore } from '#shared/core/stores.ts'
import type { Clock } from '#shared/core/ports.ts'
import { BackupError } from '#shared/node/backup/encryption.ts'
import type { BackupAbout } from '#shared/node/backup/archive.ts'
import { type Holdings, presentHoldings } from '#shared/node/backup/holdings.ts'
import { finishRestore } from '#shared/node/backup/apply-restore.ts'
import {
  beginUpload,
  dropRestore,
  readRestore,
  type RestorePlace,
  type RestoreState,
  stageUpload,
  writeRestore,
} from '#shared/node/backup/staged-restore.ts'
import type { Service } from '#shared/node/service.ts'
import { freeMb } from '#shared/central/import/disk-space.ts'

export type RestoreOptions = {
  /** Of this workspace; a backup of another is refused. */
  site_id: string
  /** Takes a backup of any site: a box that nobody has set up yet. */
  isNew: boolean
  /** @param folder with the files of the backup. @throws Problem for a backup of another product or box */
  refuse: (about: BackupAbout, folder: string) => void
}
export type Restores = {
  /** Undefined where nothing was uploaded. */
  state(): RestoreState | undefined
  /** What the workspace has now, and a restore would replace. */
  present(): Holdings
  /**
   * Stores an upload and checks it. An earlier one that was not confirmed is dropped.
   *
   * @param write writes the file and ends the stream
   * @throws Problem invalid, conflict, workspace_full
   */
  stage(write: (to: Writable) => Promise<void>, given: { bytes: number; passphrase: string }): Promise<RestoreState>
  /** @throws Problem conflict when none is staged */
  confirm(by: string): Promise<RestoreState>
  /** Drops what was uploaded, confirmed or not. @throws Problem conflict when there is nothing */
  discard(): Promise<RestoreState>
  service: Service
}

const MB = 1024 * 1024
/** Space that readings keep while a backup is unpacked. */
const SPARE_MB = 512

type RestoresParts = RestorePlace & { options: RestoreOptions; audit: Pick<AuditStore, 'add'>; clock: Clock }

export function openRestores({ options, audit, clock, ...place }: RestoresParts): Restores {
  const { workspace } = place
  let isBusy = false
  const refuse = (about: BackupAbout, folder: string) => {
    if (!options.isNew && about.site_id !== options.site_id)
      throw new Problem('invalid', `The backup is of site ${about.site_id}, this is site ${options.site_id}`)
    options.refuse(about, folder)
  }
  const needPhase = (phases: RestoreState['phase'][]): RestoreState => {
    const state = readRestore(workspace)
    if (!state || !phases.includes(state.phase)) throw new Problem('conflict', 'No backup waits here: upload one first')
    return state
  }
  return {
    state: () => readRestore(workspace),
    present: () => presentHoldings(workspace),
    async stage(write, { bytes, passphrase }) {
      if (isBusy) throw new Problem('conflict', 'Another backup is being uploaded; wait until it is checked')
      if (readRestore(workspace)?.phase === 'confirmed')
        throw new Problem('conflict', 'A backup is confirmed and waits for the next start; discard it first')
      isBusy = true
      try {
        await needSpace(workspace, bytes)
        await write(createWriteStream(await beginUpload(workspace), { mode: 0o600 }))
        return await stageUpload(place, passphrase, refuse)
      } catch (error) {
        await dropRestore(workspace)
        throw problemOf(error)
      } finally {
        isBusy = false
      }
    },
    async confirm(by) {
      const state: RestoreState = { ...needPhase(['staged']), phase: 'confirmed', by, at: clock.now() }
      await writeRestore(workspace, state)
      return state
    },
    async discard() {
      const state = needPhase(['staged', 'confirmed', 'done', 'undone'])
      await dropRestore(workspace)
      return state
    },
    service: {
      name: 'restore',
      async start() {
        const done = await finishRestore(workspace)
        if (done)
          audit.add({
            ...{ at: clock.now(), actor: done.by ?? 'restore', role: 'admin', action: 'restore', subject: done.about.site_id },
            ...{ building_id: null, before: null, after: { about: done.about, holds: done.holds }, request_id: '' },
          })
      },
      stop: async () => undefined,
    },
  }
}

/** For the upload, what is in it, and the copy that the database makes of itself. @throws Problem workspace_full */
async function needSpace(workspace: string, bytes: number): Promise<void> {
  const needed = Math.ceil((3 * bytes) / MB) + SPARE_MB
  const free = await freeMb(workspace)
  if (free < needed) throw new Problem('workspace_full', `Only ${free} MB are free; restoring this backup needs ${needed} MB`)
}

function problemOf(error: unknown): unknown {
  if (error instanceof BackupError) return new Problem('invalid', error.message)
  if ((error as NodeJS.ErrnoException).code === 'ENOSPC')
    return new Problem('workspace_full', 'The disk is full: the backup could not be unpacked')
  return error
}
