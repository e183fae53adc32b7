import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'ava'

const documents = execFileSync('git', ['ls-files', '--', '*.md'], { encoding: 'utf8' }).split('\n').filter(Boolean)
/** A path of the tree in backticks, from its top folder or, as in a document beside the code, from the document's own. */
const PATH = /`((?:appliance|hub|shared|rules|provisioning|scripts|test|docs)\/[\w./-]+\.(?:ts|md|yaml|json|css|sh))`/g
const LINK = /\]\(([^)#\s:]+)(?:#[^)]*)?\)/g

/** @returns the paths that a document names and the tree does not have */
function missingPaths(document: string): string[] {
  const text = readFileSync(document, 'utf8')
  const named = [...text.matchAll(PATH)].map(([, path]) => path!)
  const linked = [...text.matchAll(LINK)].map(([, path]) => join(dirname(document), path!))
  return [...named, ...linked].filter(path => !existsSync(path))
}

for (const document of documents) {
  test(`${document} names only files that exist`, t => t.deepEqual(missingPaths(document), []))
}
