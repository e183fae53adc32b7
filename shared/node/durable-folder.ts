/** Whether what lies in a folder is there after a restart. */
import { realpath, statfs } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'

/** File systems that live in memory. @source linux/magic.h, TMPFS_MAGIC and RAMFS_MAGIC */
const IN_MEMORY = new Map([
  [0x01021994, 'tmpfs'],
  [0x858458f6, 'ramfs'],
])

/**
 * Why what a folder holds may be gone one day; undefined when it stays. The folder need not exist yet.
 *
 * @param caches folders whose content anybody may drop; so are all that are called `.cache`
 */
export async function whyEphemeral(folder: string, caches: string[]): Promise<string | undefined> {
  const real = await realPath(folder)
  for (const cache of caches) {
    const below = relative(await realPath(cache), real)
    if (below === '' || (below !== '..' && !below.startsWith(`..${sep}`))) return `${folder} lies in the cache ${cache}`
  }
  if (real.split(sep).includes('.cache')) return `${folder} lies in a cache (.cache)`
  const { type } = await statfs(nearest(real))
  const memory = IN_MEMORY.get(type >>> 0)
  return memory && `${folder} lies in memory (${memory}), which a restart empties`
}

/** The path without links, also of what does not exist yet. */
async function realPath(path: string): Promise<string> {
  const there = nearest(path)
  return join(await realpath(there), relative(there, resolve(path)))
}

function nearest(path: string): string {
  let at = resolve(path)
  while (!existsSync(at)) at = dirname(at)
  return at
}
