/** OCI image layouts: two layers for each component, of which the lower one is shared. @source OCI Image Format Specification 1.1 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { readVersion } from '#shared/node/version.ts'
import { containerConfig, HEALTH, labelsOf } from '../containers/container-config.ts'
import type { ComponentName } from '../recipes/components.ts'
import { buildContainerBase, buildContainerProgram } from './container-root.ts'
import { emptyFolder, run } from './host-commands.ts'
import { type Architecture, TARGETS } from './target.ts'

const TYPES = {
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  index: 'application/vnd.oci.image.index.v1+json',
}
const NANOSECONDS = 1e9

type Descriptor = { mediaType: string; digest: string; size: number; [more: string]: unknown }
type Layer = { descriptor: Descriptor; diffId: string }
type OciOptions = {
  components: readonly ComponentName[]
  arch: Architecture
  /** Folder that becomes the layout. */
  out: string
  tag: string | undefined
  say: (line: string) => void
}

/**
 * Writes one layout with an image for each component.
 *
 * @throws Error with the command that failed
 */
export async function buildOci({ components, arch, out, tag, say }: OciOptions): Promise<void> {
  const target = TARGETS[arch]
  const version = readVersion()
  const seconds = Number(run('git', ['log', '-1', '--format=%ct']).trim())
  const work = `${out}.work`
  const base = join(work, 'base')
  emptyFolder(join(out, 'blobs/sha256'))
  mkdirSync(work, { recursive: true })
  say(`libraries of Debian for ${arch}`)
  buildContainerBase(base, target)
  let lower: Layer | undefined
  const manifests: object[] = []
  for (const component of components) {
    say(component)
    const upper = join(work, component)
    await buildContainerProgram(upper, base, component, target)
    // Node is in the base from the first component on.
    lower ??= packLayer(out, base, seconds)
    const layers = [lower, packLayer(out, upper, seconds)]
    const config = writeBlob(out, TYPES.config, JSON.stringify(configOf(component, { arch, version, seconds, layers })))
    const manifest = { schemaVersion: 2, mediaType: TYPES.manifest, config, layers: layers.map(({ descriptor }) => descriptor) }
    manifests.push({
      ...writeBlob(out, TYPES.manifest, JSON.stringify(manifest)),
      platform: { os: 'linux', architecture: arch },
      annotations: {
        'org.opencontainers.image.title': `plenum-${component}`,
        'org.opencontainers.image.version': version,
        ...(tag !== undefined && { 'org.opencontainers.image.ref.name': `${component}:${tag}` }),
      },
    })
  }
  writeFileSync(join(out, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
  writeFileSync(join(out, 'index.json'), JSON.stringify({ schemaVersion: 2, mediaType: TYPES.index, manifests }, null, 2))
  rmSync(work, { recursive: true })
}

const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')

function writeBlob(out: string, mediaType: string, bytes: Buffer | string): Descriptor {
  const hex = sha256(bytes)
  const path = join(out, 'blobs/sha256', hex)
  writeFileSync(`${path}.part`, bytes)
  renameSync(`${path}.part`, path)
  return { mediaType, digest: `sha256:${hex}`, size: Buffer.byteLength(bytes) }
}

/** The same files make the same layer: sorted, with one time and, but for folders of the user, one owner. */
function packLayer(out: string, folder: string, seconds: number): Layer {
  const file = join(out, 'layer.tar')
  const same = ['--sort=name', `--mtime=@${seconds}`, '--numeric-owner', '--format=gnu']
  run('tar', [...same, '-C', folder, '-cf', file, '.'])
  const bytes = readFileSync(file)
  rmSync(file)
  return { descriptor: writeBlob(out, TYPES.layer, gzipSync(bytes)), diffId: `sha256:${sha256(bytes)}` }
}

type ConfigParts = { arch: Architecture; version: string; seconds: number; layers: Layer[] }

function configOf(component: ComponentName, { arch, version, seconds, layers }: ConfigParts): object {
  const { user, workingDir, entrypoint, env, port, healthCheck } = containerConfig(component)
  const { interval, timeout, startPeriod, retries } = HEALTH
  const created = new Date(seconds * 1000).toISOString()
  return {
    created,
    architecture: arch,
    os: 'linux',
    config: {
      User: user,
      WorkingDir: workingDir,
      Entrypoint: entrypoint,
      Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
      ExposedPorts: { [`${port}/tcp`]: {} },
      StopSignal: 'SIGTERM',
      Labels: labelsOf(component, version),
      // Engines that know no health check in an OCI image pass over it.
      Healthcheck: {
        Test: ['CMD', ...healthCheck],
        Interval: interval * NANOSECONDS,
        Timeout: timeout * NANOSECONDS,
        StartPeriod: startPeriod * NANOSECONDS,
        Retries: retries,
      },
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(() => ({ created, created_by: 'scripts/image oci' })),
  }
}
