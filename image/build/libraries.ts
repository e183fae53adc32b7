/** The shared libraries of a program, copied beside it so that it runs where nothing else is. */
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { run } from './host-commands.ts'
import type { ImageTarget } from './target.ts'

/**
 * Copies what a program is linked with, and what that is linked with.
 *
 * @param folder becomes a root in which the program runs
 * @param program path of its copy within that
 * @param root from which the libraries are copied
 * @throws Error for a program that is linked with nothing
 */
export function copyLibraries(folder: string, program: string, { root, target }: { root: string; target: ImageTarget }): void {
  const todo = [join(folder, program)]
  const interpreter = /interpreter: ([^\]]+)/.exec(run('readelf', ['-l', todo[0]!]))?.[1]
  if (interpreter === undefined) throw new Error(`${program} names no interpreter`)
  // The kernel looks for it at this path, which is in `lib64` on amd64.
  mkdirSync(dirname(join(folder, interpreter)), { recursive: true })
  copyFileSync(join(root, 'usr/lib', target.triplet, basename(interpreter)), join(folder, interpreter))
  for (const path of todo) {
    for (const [, name] of run('readelf', ['-d', path]).matchAll(/\(NEEDED\).*\[(.+)\]/g)) {
      const own = join(folder, 'usr/lib', target.triplet, name!)
      if (existsSync(own)) continue
      copyFileSync(join(root, 'usr/lib', target.triplet, name!), own)
      todo.push(own)
    }
  }
}
