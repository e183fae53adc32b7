import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { crc32 } from 'node:zlib'
import { type Entry, getFileNameLowLevel, openPromise, type ZipFile } from 'yauzl'
import { ZipFile as ZipWriter } from 'yazl'
import { createEntryCheck, type PackageLimits } from '#shared/core/csv/package-limits.ts'
import { Problem } from '#shared/core/problem.ts'

/** One file of a package: its path in the package, and the file that holds its bytes. */
export type PackageFile = { path: string; file: string }

const MADE_ON_UNIX = 3
const FILE_TYPE = 0o170_000
const LINK = 0o120_000
const REGULAR_FILE = 0o100_000

/**
 * Unpacks an archive into a folder under generated names. Every entry is checked before the first is written.
 *
 * @param folder exists and is empty
 * @returns the files, without folders
 * @throws Problem package_invalid that names the entry
 */
export async function unpackZip(archive: string, folder: string, limits: PackageLimits): Promise<PackageFile[]> {
  const zip = await openPromise(archive, { autoClose: false, lazyEntries: true, decodeStrings: false }).catch(refuse)
  try {
    const files: PackageFile[] = []
    for (const [i, { path, entry }] of (await checkEntries(zip, limits)).entries()) {
      const file = join(folder, String(i))
      const stream = await zip.openReadStreamPromise(entry).catch(refuse)
      await pipeline(stream, checked(entry), createWriteStream(file, { flags: 'wx' })).catch(error => {
        throw error.code === 'ENOSPC' ? error : new Problem('package_invalid', `${path} cannot be unpacked: ${error.message}`)
      })
      files.push({ path, file })
    }
    return files
  } finally {
    zip.close()
  }
}

/** Passes the bytes of an entry on, and fails at their end when the checksum differs. */
const checked = (entry: Entry) =>
  async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let sum = 0
    for await (const chunk of chunks) {
      sum = crc32(chunk, sum)
      yield chunk
    }
    if (sum !== entry.crc32) throw new Error('its checksum does not match, the archive is damaged')
  }

async function checkEntries(zip: ZipFile, limits: PackageLimits): Promise<{ path: string; entry: Entry }[]> {
  const judged: { path: string; entry: Entry }[] = []
  const { fault } = createEntryCheck(limits)
  try {
    for await (const entry of zip.eachEntry()) {
      // With decodeStrings off names are bytes, and only our own check applies to them.
      const path = getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, true)
      const { uncompressedSize: bytes, compressedSize: packed } = entry
      const wrong = fault({ path, bytes, packed, isLink: isLink(entry), isEncrypted: entry.isEncrypted() })
      if (wrong) throw new Problem('package_invalid', wrong)
      if (!path.endsWith('/')) judged.push({ path, entry })
    }
  } catch (error) {
    refuse(error as Error)
  }
  return judged
}

const isLink = ({ versionMadeBy, externalFileAttributes }: Entry) =>
  versionMadeBy >> 8 === MADE_ON_UNIX && ((externalFileAttributes >>> 16) & FILE_TYPE) === LINK

function refuse(error: Error): never {
  throw error instanceof Problem ? error : new Problem('package_invalid', `The archive cannot be read: ${error.message}`)
}

/** A file of an archive. Without a mode, the program that unpacks it chooses the permissions. */
type ZipText = { name: string; text: string; mode?: number }

/** @returns a ZIP archive of some texts, created in memory */
export async function zipTexts(texts: readonly ZipText[]): Promise<Buffer> {
  const zip = new ZipWriter()
  for (const { name, text, mode } of texts) {
    zip.addBuffer(Buffer.from(text), name, mode === undefined ? {} : { mode: REGULAR_FILE | mode })
  }
  zip.end()
  return buffer(zip.outputStream)
}

/** @returns a ZIP archive as a stream; each file is read when it is its turn, and an error of one destroys the stream */
export function zipStream(files: readonly { path: string; chunks: () => AsyncIterable<string> }[]): Readable {
  const zip = new ZipWriter()
  const output = zip.outputStream as Readable
  let current: Readable | undefined
  output.once('close', () => current?.destroy())
  zip.on('error', (error: Error) => output.destroy(error))
  for (const { path, chunks } of files) {
    zip.addReadStreamLazy(path, { forceZip64Format: false }, done => {
      current = Readable.from(chunks(), { objectMode: false })
      current.once('error', error => output.destroy(error))
      done(null, current)
    })
  }
  zip.end()
  return output
}
