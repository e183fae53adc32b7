/** Checks whether the content of a folder survives a restart. */
import { access, constants, realpath, statfs } from 'node:fs/promises'
import { existsSync, readlinkSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { makeFolder } from './files.ts'

/** File systems in memory. @source linux/magic.h, TMPFS_MAGIC and RAMFS_MAGIC */
const IN_MEMORY = new Map([
  [0x01021994, 'tmpfs'],
  [0x858458f6, 'ramfs'],
])

/**
 * Why the content of a folder may be lost; undefined when it is durable. The folder need not exist yet.
 *
 * @param caches folders whose content may be deleted at any time, as that of every folder named `.cache`
 */
export async function whyEphemeral(folder: string, caches: string[]): Promise<string | undefined> {
  const real = await realPath(folder)
  for (const cache of caches) {
    const below = relative(await realPath(cache), real)
    if (below === '' || (below !== '..' && !below.startsWith(`..${sep}`))) return `${folder} is in the cache ${cache}`
  }
  if (real.split(sep).includes('.cache')) return `${folder} is in a cache (.cache)`
  const { type } = await statfs(nearest(real))
  const memory = IN_MEMORY.get(type >>> 0)
  return memory && `${folder} is in memory (${memory}), which a restart empties`
}

/** Maximum number of links in one path; beyond it the links form a ring. @source linux/namei.h, MAXSYMLINKS */
const LINKS_MAX = 40

/** Creates the folder if it is missing. @throws Error that names it when it cannot be written */
export async function needWritable(folder: string, mode: number): Promise<void> {
  await makeFolder(folder, mode)
  await access(folder, constants.W_OK)
}

/** The path without links, also where the path or the target of a link does not exist yet. */
async function realPath(given: string): Promise<string> {
  let path = resolve(given)
  for (let links = 0; links < LINKS_MAX; links++) {
    const there = nearest(path)
    const [first] = relative(there, path).split(sep)
    const target = first && targetOf(join(there, first))
    if (target === undefined || !first) break
    path = join(resolve(there, target), relative(join(there, first), path))
  }
  const there = nearest(path)
  return join(await realpath(there), relative(there, resolve(path)))
}

/** The target of a link; undefined when `path` is no link. */
function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

function nearest(path: string): string {
  let at = resolve(path)
  while (!existsSync(at)) at = dirname(at)
  return at
}
