/** Lists the texts that German lacks and the entries that no text needs. `scripts/language` prints them by source file. */
import { globSync, readFileSync } from 'node:fs'
import { GERMAN_MESSAGES } from '#shared/central/ui/language/german.ts'
import {
  checkTexts,
  coreTexts,
  extractMessages,
  madeSentences,
  problemDetails,
  ruleCheckTexts,
  ruleTexts,
} from './lib/messages.ts'

/** Sources with texts that people read. */
const SOURCES = ['shared/central/**/*.ts', 'appliance/**/*.ts', 'hub/**/*.ts']

/** Sources that make sentences which pages show. */
const MADE = [
  'shared/core/analytics/economizer-verdict.ts',
  'shared/core/rules/report/explain.ts',
  'shared/core/update/rollout.ts',
  'shared/node/backup/{encryption,restore,staged-restore,verify}.ts',
  'appliance/drivers/bacnet/pages/bacnet-settings.ts',
]

/** Sources whose problems a page may show. */
const REFUSING = [
  'shared/{core,flow}/**/*.ts',
  'shared/node/{auth,http,store,historian}/**/*.ts',
  'shared/node/{zip,upload}.ts',
  'shared/central/{analytics,backup,commands,fdd,import,pages,system}/**/*.ts',
  'shared/central/*.ts',
  'appliance/{drivers,kit,pages,store,system}/**/*.ts',
  'appliance/services/{catalogue-edit,field-catalogue,point-import,point-table,point-upload}.ts',
  'appliance/flow/run-visits.ts',
  'hub/{connectors,pages,updates}/**/*.ts',
  'hub/enrol/{authority,enrol.route,issue-kit,pending-boxes}.ts',
  'hub/tenants/host.ts',
  'hub/central/open.ts',
]
/** Sources that check CSV packages, and the network of a box. */
const CHECKING = [
  'shared/core/system/system-file.ts',
  'shared/core/csv/**/*.ts',
  'shared/central/import/**/*.ts',
  'shared/flow/ingest/*.ts',
]
/** Sources that check rules and run their tests. */
const RULES = [
  'shared/core/rules/{check,language}/*.ts',
  'shared/core/rules/testing/test-rule.ts',
  'shared/node/rules/rule-{cache,files}.ts',
]
/** Of the refusing ones, sources that answer programs alone. */
const FOR_PROGRAMS = /idempotency|local-ingest|service-certificates/

/** @returns the files with each message */
export function messagesInSources(): Map<string, string[]> {
  const found = new Map<string, string[]>()
  const add = (file: string, messages: string[]) => {
    for (const message of new Set(messages)) found.set(message, [...(found.get(message) ?? []), file])
  }
  for (const file of globSync(SOURCES).toSorted()) add(file, extractMessages(readFileSync(file, 'utf8')))
  for (const file of globSync('rules/**/*.yaml').toSorted()) add(file, ruleTexts(readFileSync(file, 'utf8')))
  for (const file of globSync(MADE).toSorted()) add(file, madeSentences(readFileSync(file, 'utf8')))
  for (const file of globSync(REFUSING).toSorted())
    if (!FOR_PROGRAMS.test(file)) add(file, problemDetails(readFileSync(file, 'utf8')))
  for (const file of globSync(CHECKING).toSorted()) add(file, checkTexts(readFileSync(file, 'utf8')))
  for (const file of globSync(RULES).toSorted()) add(file, ruleCheckTexts(readFileSync(file, 'utf8')))
  add('shared/core', coreTexts())
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
