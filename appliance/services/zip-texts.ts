import { buffer } from 'node:stream/consumers'
import { ZipFile } from 'yazl'

/** @returns an archive of a few texts, by their names */
export async function zipTexts(texts: readonly { name: string; text: string }[]): Promise<Buffer> {
  const zip = new ZipFile()
  for (const { name, text } of texts) zip.addBuffer(Buffer.from(text), name)
  zip.end()
  return buffer(zip.outputStream)
}
