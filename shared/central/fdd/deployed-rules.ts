import { randomUUID } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { Problem } from '#shared/core/problem.ts'
import { RULE_FILENAME, type DeployedRules } from '#shared/flow/fdd/publish-rules.ts'
import { makeFolder, replaceFile, syncFolder } from '#shared/node/files.ts'
import { DECIDED, REMOVALS, removalsOf } from '#shared/node/rules/rule-changes.ts'
import { QUIET_MS } from '#shared/node/rules/settled-files.ts'

/** Prefix of a change that is being written. Once written it is committed by a rename and only has to be moved into place. */
const WRITING = '.writing-'
const NAME = new RegExp(RULE_FILENAME)

/**
 * The folder of deployed rules. A change is first written to a staging folder; renaming that folder commits it. After a crash a
 * committed change is completed and an uncommitted one is dropped. The rule loader reads a committed change as if it were in
 * place and ignores all other names with a leading dot. Only one caller at a time: opening drops a change that is being written.
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
      // A file that cannot be read, such as a dangling link, is skipped here; the rule loader reports it.
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

/** A committed change must be possible: a file cannot replace a folder. */
function refuseFolder(path: string, filename: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  throw new Problem('rule_invalid', `${filename} is a folder among the deployed rules; nothing was deployed`)
}

/** The file is complete when it appears, so its time is set back and the loader does not wait for it to settle. */
async function putWhole(path: string, yaml: string): Promise<void> {
  await replaceFile(path, yaml)
  const at = (Date.now() - QUIET_MS) / 1000
  await utimes(path, at, at)
}

/** Moves a committed change into place; repeating it does no harm. */
async function finish(folder: string, change: string): Promise<void> {
  const from = join(folder, change)
  for (const name of removalsOf(from)) await rm(join(folder, name), { force: true })
  for (const name of await readdir(from)) if (NAME.test(name)) await rename(join(from, name), join(folder, name))
  syncFolder(folder)
  await rm(from, { recursive: true })
}
