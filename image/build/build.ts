/** A whole build: Debian's packages and the product become a verified root, a disk image and a signed update. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { readVersion } from '#shared/node/version.ts'
import { buildApplication } from './application.ts'
import { packEsp, packKernel, packRoot } from './boot.ts'
import { packBundle } from './bundle.ts'
import { packDisk } from './disk.ts'
import { run } from './host-commands.ts'
import { readPackageList, unpackDebian } from './packages.ts'
import { addApplication, checkLibraries, configureRoot } from './root.ts'
import { billOfMaterials } from './sbom.ts'
import { type Architecture, TARGETS } from './target.ts'

/** What the appliance starts. */
const MAINS = ['appliance/main.ts', 'appliance/prepare/main.ts']

type BuildOptions = {
  arch: Architecture
  /** Where files are put: the disk image, the bundle, the bill of materials. */
  out: string
  /** Folder with the signing keys. */
  keys: string
  /** Version that the image says it has; the repository's when absent. */
  version?: string | undefined
  say: (line: string) => void
}
type Built = { disk: string; bundle: string; sbom: string; sha256: string }

/** @returns the Unix time of the last commit, which every file of an image has */
const sourceSeconds = (): number => Number(run('git', ['log', '-1', '--format=%ct']).trim())

/** @throws Error with the command that failed */
export function build({ arch, out, keys, version = readVersion(), say }: BuildOptions): Built {
  const target = TARGETS[arch]
  const work = join(out, 'work')
  mkdirSync(work, { recursive: true })
  const list = readPackageList()
  const seconds = sourceSeconds()
  const [root, kernel] = [join(work, 'root'), join(work, 'kernel')]

  say(`packages of Debian ${list.suite} for ${arch}`)
  const packages = unpackDebian(root, list.packages, { suite: list.suite, target })
  const withKernel = unpackDebian(kernel, [target.kernel, ...target.loaders, ...Object.keys(list.files)], {
    suite: list.suite,
    target,
  })

  say(`the product, ${version}`)
  const nodePackages = buildApplication(join(work, 'application'), MAINS, { target, version })
  const sbom = join(out, `plenum-${arch}.cdx.json`)
  const debian = [...packages, ...withKernel.filter(({ name }) => name === target.kernel || name.startsWith('linux-image-'))]
  writeFileSync(sbom, billOfMaterials({ debian, nodePackages, version, seconds }))

  configureRoot({ root, kernel, list, target })
  addApplication(root, join(work, 'application'))
  checkLibraries(root, Object.values(list.files).flat(), target)
  copyFileSync(join(keys, 'ca.pem'), join(root, 'etc/rauc/keyring.pem'))
  const conf = join(root, 'etc/rauc/system.conf')
  writeFileSync(conf, readFileSync(conf, 'utf8').replace('@ARCH@', arch))

  say('root, kernel and disk')
  const parts = { root, kernel, work, target, seconds }
  const verified = packRoot(root, join(work, 'root.img'), seconds)
  const kernelFile = packKernel(join(work, 'kernel.img'), verified, parts)
  const esp = packEsp(join(work, 'esp.img'), parts)
  const disk = packDisk(join(out, `plenum-${arch}.img`), { esp, kernel: kernelFile, root: verified.file, work, seconds })

  say('signed update')
  const bundle = packBundle(join(out, `plenum-${arch}.raucb`), {
    root: verified.file,
    kernel: kernelFile,
    arch,
    version,
    keys,
    work,
  })
  return { disk, bundle, sbom, sha256: createHash('sha256').update(readFileSync(disk)).digest('hex') }
}
