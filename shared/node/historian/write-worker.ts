/** The process that writes sealed files. It never changes the database; the parent lists the files that it returns. */
import { join } from 'node:path'
import { serveWorker } from '#shared/node/worker/serve-worker.ts'
import { openReadOnly } from '../sqlite.ts'
import { openDuck } from './duck.ts'
import { SCRATCH } from './folder.ts'
import { type LoadResult, type LoadInput, loadStaged } from './load/load-staged.ts'
import type { NewPart } from './manifest.ts'
import { type MergeInput, mergeParts } from './merge.ts'
import { type SealedSlice, type SealInput, sealSlice } from './seal.ts'

export type WriteInit = { dbPath: string; root: string; memoryMb: number }
export type WriteHandlers = {
  seal(input: SealInput): Promise<SealedSlice | undefined>
  merge(input: MergeInput): Promise<NewPart[]>
  load(input: LoadInput): Promise<LoadResult>
}

serveWorker(async ({ dbPath, root, memoryMb }: WriteInit): Promise<WriteHandlers> => {
  const db = openReadOnly(dbPath)
  const duck = await openDuck({ memoryMb, spill: join(root, SCRATCH) })
  return {
    seal: input => sealSlice(db, duck, root, input),
    merge: input => mergeParts(duck, root, input),
    load: input => loadStaged(duck, root, input),
  }
})
