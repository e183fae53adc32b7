/** `scripts/image`: builds the appliance's disk image and its signed updates, and the images of containers. */
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { makeSigningKeys } from '#image/build/bundle.ts'
import { build } from '#image/build/build.ts'
import { buildContainerRoot } from '#image/build/container-root.ts'
import { imageTag, treeSource } from '#image/build/image-tag.ts'
import { buildOci } from '#image/build/oci.ts'
import { readOci } from '#image/build/oci-check.ts'
import { readPackageList } from '#image/build/package-list.ts'
import { askedPackages, lockChanges, lockOf, readLock, writeLock } from '#image/build/package-lock.ts'
import { resolvePackages } from '#image/build/packages.ts'
import { ARCHITECTURES, type Architecture, TARGETS } from '#image/build/target.ts'
import { COMPONENT_NAMES, type ComponentName } from '#image/recipes/components.ts'
import { errorText } from '#shared/core/error-text.ts'

const USAGE = `scripts/image build [options]     a disk image, a signed update, bill of materials and licences, of the packages that are locked
scripts/image lock                takes the versions that Debian has now into image/packages.lock.yaml, for every architecture
scripts/image oci [COMPONENT...]  images of containers as an OCI layout in OUT/oci-ARCH, all components unless some are named
scripts/image root COMPONENT      the root file system of one container, in OUT
  --arch ${ARCHITECTURES.join('|')}    the processor (arm64)
  --out DIR           where they are put (.cache/image)
  --keys DIR          keys that sign updates, made there when there are none; the image trusts ca.pem of it (DIR/keys)
  --as-version V      the version that the image says it has, such as 1.2.3+0123456789ab (the repository's)
  --tag T             of oci: the version or nightly; sha-<7 hex> of the revision when absent, and none where the tree has changes
Runs as root on Debian; nothing of the target is run, so no emulation is needed.
`
const VERSION = /^\d+\.\d+\.\d+\+[\da-f]{12}$/
/** Folders of an image have the same rights whoever builds it. */
process.umask(0o022)

const say = (line: string) => process.stdout.write(`${line}\n`)

async function main(args: string[]): Promise<number> {
  const text = { type: 'string' } as const
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      arch: { ...text, default: 'arm64' },
      out: { ...text, default: '.cache/image' },
      keys: text,
      'as-version': text,
      tag: text,
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(USAGE)
    return 0
  }
  const [command, ...more] = positionals
  const arch = ARCHITECTURES.find(one => one === values.arch)
  if (arch === undefined) throw new Error(`--arch takes ${ARCHITECTURES.join(' or ')}, not ${values.arch}`)
  if (values['as-version'] !== undefined && !VERSION.test(values['as-version']))
    throw new Error('--as-version takes 1.2.3+0123456789ab')
  const out = resolve(values.out)
  if (command === 'build' && more.length === 0) return buildImage(arch, out, values)
  if (command === 'lock' && more.length === 0) return lockPackages()
  if (command === 'oci') return packContainers(more.length > 0 ? more.map(componentOf) : COMPONENT_NAMES, arch, out, values.tag)
  if (command === 'root' && more.length === 1) return buildRoot(componentOf(more[0]!), arch, out)
  throw new Error('name one command: build, lock, oci, or root with one component')
}

function componentOf(name: string): ComponentName {
  const component = COMPONENT_NAMES.find(one => one === name)
  if (component === undefined) throw new Error(`there is no component ${name}; there are ${COMPONENT_NAMES.join(', ')}`)
  return component
}

async function packContainers(
  components: readonly ComponentName[],
  arch: Architecture,
  out: string,
  asked: string | undefined,
): Promise<number> {
  const tag = imageTag(asked, treeSource())
  if (tag === undefined) say('the images get no tag: the tree has changes that no revision has')
  const layout = join(out, `oci-${arch}`)
  await buildOci({ components, arch, out: layout, tag, say })
  const { complaints } = await readOci(layout)
  for (const complaint of complaints) process.stderr.write(`${complaint}\n`)
  if (complaints.length === 0) say(`${layout}${tag === undefined ? '' : `, tag ${tag}`}`)
  return complaints.length === 0 ? 0 : 1
}

function lockPackages(): number {
  const list = readPackageList()
  const lock = readLock()
  for (const arch of ARCHITECTURES) {
    const asked = askedPackages(arch, list)
    const next = lockOf(asked, resolvePackages(asked, { suite: list.suite, arch }))
    const changes = lockChanges(lock[arch], next)
    say(`${arch}: ${changes.length === 0 ? 'nothing has changed' : changes.join('\n  ')}`)
    lock[arch] = next
  }
  writeLock(lock)
  return 0
}

async function buildRoot(component: ComponentName, arch: Architecture, out: string): Promise<number> {
  await buildContainerRoot(out, component, TARGETS[arch])
  say(out)
  return 0
}

async function buildImage(
  arch: Architecture,
  out: string,
  values: { keys?: string | undefined; 'as-version'?: string | undefined },
): Promise<number> {
  const started = Date.now()
  const keys = resolve(values.keys ?? join(out, 'keys'))
  if (makeSigningKeys(keys)) say(`signing keys made in ${keys}: whoever has release.key can update every box that trusts ca.pem`)
  const built = await build({ arch, out, keys, version: values['as-version'], say })
  say(
    `${built.disk}\n${built.bundle}\n${built.sbom}\n${built.licences}\nsha256 of the disk ${built.sha256}, ${Math.round((Date.now() - started) / 1000)} s`,
  )
  return 0
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`image: ${errorText(error)}\n`)
  process.exitCode = 64
}
