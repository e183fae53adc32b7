/** The root file system of a container: Debian's libraries and Node, and the files of one component over them. */
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync, chmodSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readVersion } from '#shared/node/version.ts'
import { HEALTH_CHECK, NODE, PROGRAM } from '../containers/container-config.ts'
import { type ComponentName, COMPONENTS } from '../recipes/components.ts'
import { buildApplication } from './application.ts'
import { emptyFolder, run } from './host-commands.ts'
import { readPackageList } from './package-list.ts'
import { lockedHere } from './package-lock.ts'
import { fetchPackages, removePatterns, unpackPackages } from './packages.ts'
import { checkLibraries } from './root.ts'
import type { ImageTarget } from './target.ts'

/** There is no shell and no package manager. */
const NEEDLESS = ['usr/share', 'usr/bin', 'usr/sbin', 'etc', 'var', 'usr/lib/{systemd,tmpfiles.d,locale}', 'usr/lib/*/gconv']
const USER = '10001'
const FILES: Readonly<{ [path: string]: string }> = {
  'etc/passwd': `root:x:0:0::/:/usr/sbin/nologin\nplenum:x:${USER}:${USER}::/:/usr/sbin/nologin\n`,
  'etc/group': `root:x:0:\nplenum:x:${USER}:\n`,
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
}
/** Places where an engine mounts something. A volume takes owner and rights of the folder it is mounted on. */
const MOUNTED = ['dev', 'proc', 'sys', 'tmp']

/** The lower layer: the same for each component. @throws Error that names the command that failed */
export function buildContainerBase(into: string, target: ImageTarget): void {
  const { arch } = target
  const libraries = lockedHere(arch, 'container')
  fetchPackages(libraries, { suite: readPackageList().suite, arch })
  unpackPackages(into, libraries)
  removePatterns(into, NEEDLESS)
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(into, path)), { recursive: true })
    writeFileSync(join(into, path), text)
  }
  for (const name of ['lib', 'lib64']) {
    if (!existsSync(join(into, name)) && existsSync(join(into, 'usr', name))) symlinkSync(`usr/${name}`, join(into, name))
  }
  for (const name of MOUNTED) emptyFolder(join(into, name))
  chmodSync(join(into, 'tmp'), 0o1777)
}

/** Both layers in one folder. */
export async function buildContainerRoot(into: string, component: ComponentName, target: ImageTarget): Promise<void> {
  const upper = `${into}.program`
  buildContainerBase(into, target)
  await buildContainerProgram(upper, into, component, target)
  run('cp', ['-a', `${upper}/.`, into])
  for (const path of [upper, `${into}.documents.db`]) rmSync(path, { recursive: true, force: true })
}

/**
 * The upper layer: a component, and the folders in which it stores.
 *
 * @param base of `buildContainerBase`; it gets Node from the first component
 */
export async function buildContainerProgram(
  into: string,
  base: string,
  component: ComponentName,
  target: ImageTarget,
): Promise<void> {
  emptyFolder(into)
  const { main, folders } = COMPONENTS[component]
  const program = join(into, PROGRAM)
  mkdirSync(dirname(program), { recursive: true })
  await buildApplication(program, [main], { target, version: readVersion(), index: `${base}.documents.db` })
  const node = join(base, NODE)
  mkdirSync(dirname(node), { recursive: true })
  if (existsSync(node)) rmSync(join(program, 'bin'), { recursive: true })
  else renameSync(join(program, 'bin/node'), node)
  rmSync(join(program, 'bin'), { recursive: true, force: true })
  mkdirSync(dirname(join(program, HEALTH_CHECK)), { recursive: true })
  copyFileSync(HEALTH_CHECK, join(program, HEALTH_CHECK))
  for (const path of Object.values(folders)) {
    mkdirSync(join(into, path), { recursive: true, mode: 0o700 })
    run('chown', [`${USER}:${USER}`, join(into, path)])
  }
  run('chmod', ['-R', 'u=rwX,go=rX', join(into, 'opt')])
  checkLibraries(base, [NODE], target, program)
}
