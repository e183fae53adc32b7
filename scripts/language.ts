/** Lists the texts that German lacks and the entries that no text needs. `scripts/language` prints them by source file. */
import { globSync, readFileSync } from 'node:fs'
import { GERMAN_MESSAGES } from '#shared/central/ui/language/german.ts'
import { extractMessages } from './lib/messages.ts'

/** Sources with texts that people read. */
const SOURCES = ['shared/central/**/*.ts', 'appliance/**/*.ts', 'hub/**/*.ts']

/** @returns files by message */
export function messagesInSources(): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const file of globSync(SOURCES).toSorted()) {
    for (const message of extractMessages(readFileSync(file, 'utf8'))) {
      const files = found.get(message) ?? []
      if (!files.includes(file)) files.push(file)
      found.set(message, files)
    }
  }
  return found
}

if (import.meta.main) {
  const needed = messagesInSources()
  const missing = [...needed].filter(([message]) => !GERMAN_MESSAGES.has(message))
  for (const [file, ofFile] of Map.groupBy(missing, ([, files]) => files[0]!)) {
    process.stdout.write(`\n${file}\n${ofFile.map(([message]) => `  ${JSON.stringify(message)}\n`).join('')}`)
  }
  const unused = [...GERMAN_MESSAGES.keys()].filter(message => !needed.has(message))
  for (const message of unused) process.stdout.write(`unused: ${JSON.stringify(message)}\n`)
  process.stdout.write(`${needed.size} messages, ${missing.length} missing, ${unused.length} unused\n`)
}
