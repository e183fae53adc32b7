/** Makes the index of documents, rules and routes that retrieval and the tools of agents search. Part of making an image. */
import { errorText } from '#shared/core/error-text.ts'
import { SHIPPED_INDEX } from '#shared/node/documents/index-file.ts'
import { writeIndex } from '#shared/node/documents/write-index.ts'
import { replaceFile } from '#shared/node/files.ts'
import { readRoutes, readSections } from './lib/document-sources.ts'

const USAGE = `scripts/index-documents [FILE]
  FILE   where the index goes, whole or not at all; by default documents.db beside the program
`
const [path = SHIPPED_INDEX, ...more] = process.argv.slice(2)
if (path.startsWith('-') || more.length > 0) {
  process.stderr.write(USAGE)
  process.exit(path === '--help' ? 0 : 64)
}
try {
  const sections = readSections()
  const routes = await readRoutes(sections)
  const bytes = writeIndex({ sections, routes })
  await replaceFile(path, bytes)
  process.stdout.write(`${path}: ${sections.length} sections, ${routes.length} routes, ${bytes.length} bytes\n`)
} catch (error) {
  process.stderr.write(`The index was not written: ${errorText(error)}\n`)
  process.exitCode = 1
}
