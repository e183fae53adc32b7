/** Tags of images, which are never invented. @source specification, "Versioning" */
import { run } from './host-commands.ts'
import { readVersion } from '#shared/node/version.ts'

type Source = {
  /** `1.2.3+0123456789ab` */
  version: string
  /** Whether the tree is exactly that revision. */
  isClean: boolean
}

/**
 * The tag of images that are built from this tree: `sha-<7 hex>` of its revision unless `nightly` or its own version is asked for.
 *
 * @returns undefined where the tree has changes: what is built then is no revision, and gets no tag
 * @throws Error for any other tag, and for one that a changed tree is asked to have
 */
export function imageTag(asked: string | undefined, { version, isClean }: Source): string | undefined {
  const [number = '', revision = ''] = version.split('+')
  const own = `sha-${revision.slice(0, 7)}`
  if (asked !== undefined && ![own, number, 'nightly'].includes(asked))
    throw new Error(`--tag takes ${own}, ${number} or nightly, not ${asked}: a tag says what an image was built from`)
  if (isClean) return asked ?? own
  if (asked === undefined) return undefined
  throw new Error(`--tag ${asked}: the tree has changes that no revision has`)
}

/** The tree from which images are built. */
export const treeSource = (): Source => ({ version: readVersion(), isClean: run('git', ['status', '--porcelain']).trim() === '' })
