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

/** A file with the name of what it exports: `file.ts` (`name`), or `file.ts`: `name` within parentheses. */
const NAMED = /`((?:appliance|hub|shared|provisioning|scripts)\/[\w./-]+\.ts)`(?: \(|: )`(\w+)`/g

/** @returns each `file: name` of a document where the file does not export the name */
function missingNames(document: string): string[] {
  const text = readFileSync(document, 'utf8').replaceAll(/\s+/g, ' ')
  return [...text.matchAll(NAMED)].flatMap(([, file, name]) =>
    new RegExp(`^export (?:async )?(?:function\\*?|class|const) ${name}\\b`, 'm').test(readFileSync(file!, 'utf8'))
      ? []
      : [`${file}: ${name}`],
  )
}

test('ARCHITECTURE.md names what its files export', t => {
  t.deepEqual(missingNames('ARCHITECTURE.md'), [])
  t.true([...readFileSync('ARCHITECTURE.md', 'utf8').replaceAll(/\s+/g, ' ').matchAll(NAMED)].length > 30)
})

for (const document of documents) {
  test(`${document} names only files that exist`, t => t.deepEqual(missingPaths(document), []))
}

test('every decision has a number of its own', t => {
  const numbers = [...readFileSync('docs/decisions.md', 'utf8').matchAll(/^### (D\d+) /gm)].map(([, number]) => number!)
  t.true(numbers.length > 40, String(numbers.length))
  t.is(new Set(numbers).size, numbers.length)
})
