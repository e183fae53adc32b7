/** Writes the catalogue's page from the rules and from what `scripts/catalogue` knows of them. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import type { WrittenRule } from '#shared/core/rules/check/rule.ts'
import { cataloguePage, type Family, readLists } from './lib/catalogue-page.ts'
import { readReasons, type SharedReasons } from './lib/rule-sources.ts'

const read = (name: string): string => readFileSync(fileURLToPath(new URL(`catalogue/${name}`, import.meta.url)), 'utf8')

/** The reasons that rules share. */
export const sharedReasons = (): SharedReasons => readReasons(read('reasons.yaml'))

/** @returns the text of `rules/README.md` for these rules */
export function readmeOf(rules: WrittenRule[]): string {
  const families = parse(read('families.yaml')) as Family[]
  return cataloguePage(rules, read('readme.md'), families, readLists(read('lists.yaml')), sharedReasons())
}
