/** A whole build: Debian's packages and the product become a verified root, a disk image and a signed update. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { readVersion } from '#shared/node/version.ts'
import { buildApplication } from './application.ts'
import { packEsp, packKernel, packRoot } from './boot.ts'
import { packBundle } from './bundle.ts'
import { packDisk, PARTITION_FILES, withPartitionIds } from './disk.ts'
import { run } from './host-commands.ts'
import { debianLicences, licenceFile, nodeLicences } from './licences.ts'
import { readPackageList } from './package-list.ts'
import { lockedHere } from './package-lock.ts'
import { fetchPackages, unpackPackages } from './packages.ts'
import { addApplication, checkLibraries, configureRoot } from './root.ts'
import { billOfMaterials } from './sbom.ts'
import { type Architecture, TARGETS } from './target.ts'

/** What the appliance starts. */
/** What runs on a box. */
export const MAINS = ['appliance/main.ts', 'appliance/prepare/main.ts']

type BuildOptions = {
  arch: Architecture
  /** Where files are put: the disk image, the bundle, the bill of materials, the licences. */
  out: string
  /** Folder with the signing keys. */
  keys: string
  /** Version that the image says it has; the repository's when absent. */
  version?: string | undefined
  say: (line: string) => void
}
type Built = { disk: string; bundle: string; sbom: string; licences: string; sha256: string }

/** @returns the Unix time of the last commit, which every file of an image has */
const sourceSeconds = (): number => Number(run('git', ['log', '-1', '--format=%ct']).trim())

/** @throws Error with the command that failed */
export async function build({ arch, out, keys, version = readVersion(), say }: BuildOptions): Promise<Built> {
  const target = TARGETS[arch]
  const work = join(out, 'work')
  mkdirSync(work, { recursive: true })
  const list = readPackageList()
  const seconds = sourceSeconds()
  const [root, kernel] = [join(work, 'root'), join(work, 'kernel')]

  say(`packages of Debian ${list.suite} for ${arch}`)
  const [packages, withKernel] = [lockedHere(arch, 'root'), lockedHere(arch, 'kernel')]
  fetchPackages([...packages, ...withKernel], { suite: list.suite, arch })
  unpackPackages(root, packages)
  unpackPackages(kernel, withKernel)

  say(`the product, ${version}`)
  const nodePackages = await buildApplication(join(work, 'application'), MAINS, { target, version })
  const sbom = join(out, `plenum-${arch}.cdx.json`)
  // Of what is unpacked beside the kernel only these get into the image.
  const taken = [...target.loaders, ...Object.keys(list.files)]
  const withKernelTaken = withKernel.filter(({ name }) => name.startsWith('linux-image-') || taken.includes(name))
  const licensed = [...debianLicences(root, packages), ...debianLicences(kernel, withKernelTaken)]
  const debian = [...packages, ...withKernelTaken].map((one, i) => ({ ...one, licences: licensed[i]!.licences }))
  writeFileSync(sbom, billOfMaterials({ debian, nodePackages, version, seconds }))
  const licences = join(out, `plenum-${arch}.licences.txt`)
  const own = { name: 'plenum', version, licences: ['MIT'], text: readFileSync('LICENSE', 'utf8') }
  writeFileSync(licences, licenceFile(own, [...licensed, ...nodeLicences(nodePackages)]))

  configureRoot({ root, kernel, list, target, seconds })
  addApplication(root, join(work, 'application'))
  checkLibraries(root, Object.values(list.files).flat(), target)
  copyFileSync(join(keys, 'ca.pem'), join(root, 'etc/rauc/keyring.pem'))
  for (const file of PARTITION_FILES) {
    const path = join(root, file)
    writeFileSync(path, withPartitionIds(readFileSync(path, 'utf8').replace('@ARCH@', arch)))
  }

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
  return { disk, bundle, sbom, licences, sha256: createHash('sha256').update(readFileSync(disk)).digest('hex') }
}
