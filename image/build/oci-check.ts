/** Reads an OCI layout as an engine would, and says what is wrong with it. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import { extract } from 'tar-stream'
import { errorText } from '#shared/core/error-text.ts'

type Descriptor = { digest: string; size: number; annotations?: Record<string, string> }
type Manifest = { config: Descriptor; layers: Descriptor[] }
type ImageConfig = {
  architecture: string
  config: {
    User: string
    Entrypoint: string[]
    WorkingDir: string
    Labels: Record<string, string>
    Healthcheck: { Test: string[] }
  }
  rootfs: { diff_ids: string[] }
}
type OciImage = {
  name: string
  tag: string | undefined
  config: ImageConfig
  /** Paths with what lies there, from the root without a slash. */
  entries: Map<string, { type: string; mode: number; uid: number; size: number }>
}

/** Programs that run text as commands, and package managers. */
const SHELL = /(?:^|\/)(?:sh|bash|dash|ash|busybox|zsh|apt(?:-get)?|dpkg|npm|npx)$/
const SETUID = 0o6000
const WRITABLE_BY_OTHERS = 0o002

/** @returns the images, and every complaint; none when the layout is sound */
export async function readOci(out: string): Promise<{ images: OciImage[]; complaints: string[] }> {
  const complaints: string[] = []
  const { imageLayoutVersion } = JSON.parse(readFileSync(join(out, 'oci-layout'), 'utf8'))
  if (imageLayoutVersion !== '1.0.0') complaints.push(`oci-layout: version ${imageLayoutVersion}`)
  const { manifests } = JSON.parse(readFileSync(join(out, 'index.json'), 'utf8')) as { manifests: Descriptor[] }
  const images: OciImage[] = []
  for (const descriptor of manifests) {
    const { annotations = {} } = descriptor
    const name = annotations['org.opencontainers.image.title'] ?? descriptor.digest
    try {
      const image = await readImage(out, descriptor)
      complaints.push(...complainOf(image).map(complaint => `${name}: ${complaint}`))
      images.push({ ...image, name, tag: annotations['org.opencontainers.image.ref.name'] })
    } catch (error) {
      complaints.push(`${name}: ${errorText(error)}`)
    }
  }
  return { images, complaints }
}

/** @throws Error when a blob is missing, or is not what its digest says */
function readBlob(out: string, { digest, size }: Descriptor): Buffer {
  const bytes = readFileSync(join(out, 'blobs', digest.replace(':', '/')))
  const found = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
  if (found !== digest || bytes.length !== size) throw new Error(`${digest} is ${found} with ${bytes.length} bytes, not ${size}`)
  return bytes
}

type ReadImage = Pick<OciImage, 'config' | 'entries'>

async function readImage(out: string, descriptor: Descriptor): Promise<ReadImage> {
  const manifest = JSON.parse(readBlob(out, descriptor).toString()) as Manifest
  const config = JSON.parse(readBlob(out, manifest.config).toString()) as ImageConfig
  const entries: OciImage['entries'] = new Map()
  if (config.rootfs.diff_ids.length !== manifest.layers.length) throw new Error('layers and diff_ids differ in number')
  for (const [i, layer] of manifest.layers.entries()) {
    const tar = gunzipSync(readBlob(out, layer))
    const found = `sha256:${createHash('sha256').update(tar).digest('hex')}`
    if (found !== config.rootfs.diff_ids[i]) throw new Error(`layer ${i} is ${found}, not ${config.rootfs.diff_ids[i]}`)
    await addEntries(entries, tar)
  }
  return { config, entries }
}

async function addEntries(entries: OciImage['entries'], tar: Buffer): Promise<void> {
  const unpack = Readable.from([tar]).pipe(extract())
  for await (const entry of unpack) {
    const { name, type, mode = 0, uid = 0, size = 0 } = entry.header
    entries.set(name.replace(/^\.\//, '').replace(/\/$/, ''), { type: type ?? 'file', mode, uid, size })
    entry.resume()
  }
}

function complainOf({ config: { config }, entries }: ReadImage): string[] {
  const isThere = (path: string) => entries.has(path.replace(/^\//, ''))
  const inProgram = (path: string) => isThere(path) || isThere(join(config.WorkingDir, path))
  const [program = '', ...words] = config.Entrypoint
  const [kind, check = '', script = ''] = config.Healthcheck.Test
  return [
    ...(/^[1-9]\d*:[1-9]\d*$/.test(config.User) ? [] : [`the user is ${config.User}`]),
    ...[program, words.at(-1) ?? '', check, script].filter(path => !inProgram(path)).map(path => `${path} is not in it`),
    ...(kind === 'CMD' ? [] : ['the health check needs a shell']),
    ...[...entries].flatMap(([path, { type, mode, uid }]) => [
      ...(/(?:^|\/)\.\.(?:\/|$)|^\//.test(path) ? [`${path} leads out of the root`] : []),
      ...(SHELL.test(path) && type !== 'directory' ? [`${path} is a shell or a package manager`] : []),
      ...((mode & SETUID) === 0 ? [] : [`${path} gives rights to whoever runs it`]),
      ...((mode & WRITABLE_BY_OTHERS) === 0 || type === 'symlink' || path === 'tmp'
        ? []
        : [`${path} can be written by everybody`]),
      ...(uid === 0 || type === 'directory' ? [] : [`${path} belongs to ${uid}`]),
    ]),
  ]
}
