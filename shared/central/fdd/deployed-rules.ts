import { randomUUID } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { Problem } from '#shared/core/problem.ts'
import { RULE_FILENAME, type DeployedRules } from '#shared/flow/fdd/publish-rules.ts'
import { makeFolder, replaceFile, syncFolder } from '#shared/node/files.ts'
import { DECIDED, REMOVALS, removalsOf } from '#shared/node/rules/rule-changes.ts'
import { QUIET_MS } from '#shared/node/rules/settled-files.ts'

/** A change that is being written; once it is, it is decided, and only has to be moved into place. */
const WRITING = '.writing-'
const NAME = new RegExp(RULE_FILENAME)

/**
 * The folder of deployed rules. A change is written beside the files first; renaming its folder decides it, and what a
 * crash leaves is finished when it was decided and dropped when it was not. The rule loader takes what is decided as if it
 * were in place, and looks past all other dotted names. One caller at a time: opening drops what another is just writing.
 */
export async function openDeployedRules(folder: string): Promise<DeployedRules> {
  await makeFolder(folder)
  for (const name of await readdir(folder)) {
    if (name.startsWith(WRITING)) await rm(join(folder, name), { recursive: true })
    if (name.startsWith(DECIDED)) await finish(folder, name)
  }
  return {
    async list() {
      const names = (await readdir(folder)).filter(name => NAME.test(name)).toSorted()
      // What cannot be read, such as a link to nowhere, is no rule; who loads the folder names it.
      const read = (filename: string) => readFile(join(folder, filename), 'utf8').catch(() => undefined)
      const files = await Promise.all(names.map(async filename => ({ filename, yaml: await read(filename) })))
      return files.flatMap(({ filename, yaml }) => (yaml === undefined ? [] : [{ filename, yaml }]))
    },
    async change(put, remove) {
      for (const { filename } of put) refuseFolder(join(folder, filename), filename)
      const id = randomUUID()
      const staging = join(folder, WRITING + id)
      await mkdir(staging)
      for (const { filename, yaml } of put) await putWhole(join(staging, filename), yaml)
      await replaceFile(join(staging, REMOVALS), JSON.stringify(remove))
      await rename(staging, join(folder, DECIDED + id))
      syncFolder(folder)
      await finish(folder, DECIDED + id)
    },
  }
}

/** What is decided must be possible: a file cannot take the place of a folder. */
function refuseFolder(path: string, filename: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  throw new Problem('rule_invalid', `${filename} is a folder among the deployed rules; nothing was deployed`)
}

/** Nobody writes the file where it is read, so it counts at once: its time is that of one that has been left alone. */
async function putWhole(path: string, yaml: string): Promise<void> {
  await replaceFile(path, yaml)
  const at = (Date.now() - QUIET_MS) / 1000
  await utimes(path, at, at)
}

/** Moves a decided change into place; doing it twice does no harm. */
async function finish(folder: string, change: string): Promise<void> {
  const from = join(folder, change)
  for (const name of removalsOf(from)) await rm(join(folder, name), { force: true })
  for (const name of await readdir(from)) if (NAME.test(name)) await rename(join(from, name), join(folder, name))
  syncFolder(folder)
  await rm(from, { recursive: true })
}
