/**
 * Rules as they came out of their files. Files are read afresh each time, but parsed only when their text is new: checking
 * the catalogue, with its tests, takes a hundred times as long as running it over an hour.
 *
 * Derived data: what is missing, damaged or another version's is parsed anew.
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { sha256 } from '#shared/core/rules/identity.ts'
import { parseRule } from '#shared/core/rules/parse-rule.ts'
import type { Rule } from '#shared/core/rules/types.ts'
import { makeFolder, replaceFile } from './files.ts'
import { pack, unpack } from './packed.ts'
import { type Loaded, loadParsed } from './rule-files.ts'

/** Eight bytes at the beginning of the file; the last is the version of this layout. */
const MAGIC = Buffer.from('PLENUMR1')

/** The file's content: rules by the path of their file. */
type Kept = { version: string; rules: Map<string, Rule> }

export type RuleCache = {
  /** As `loadRules`, without what only people read. @param dirs folders in rising precedence */
  load(dirs: string[]): Promise<Loaded<Rule>>
}

/**
 * @param path of the file; it may be deleted at any time, and one that cannot be written is done without
 * @param version of the program: another one may read the same text otherwise
 */
export function openRuleCache(path: string, version: string): RuleCache {
  let known: Map<string, Rule> | undefined
  return {
    async load(dirs) {
      const before = (known ??= readKept(path, version))
      const now = new Map<string, Rule>()
      const loaded = loadParsed(dirs, (text, filename) => {
        const same = before.get(filename)
        if (same?.sha256 === sha256(text)) {
          now.set(filename, same)
          return { ok: true, rule: same }
        }
        const parsed = parseRule(text, filename)
        if (!parsed.ok) return parsed
        const { body: _body, tests: _tests, ...rule } = parsed.rule
        now.set(filename, rule)
        return { ok: true, rule }
      })
      known = now
      const isSame = now.size === before.size && [...now].every(([filename, rule]) => before.get(filename) === rule)
      if (!isSame) await keep(path, { version, rules: now }).catch(() => undefined)
      return loaded
    },
  }
}

function readKept(path: string, version: string): Map<string, Rule> {
  try {
    const kept = existsSync(path) ? (unpack(MAGIC, readFileSync(path)) as Kept) : undefined
    return kept?.version === version ? kept.rules : new Map()
  } catch {
    return new Map()
  }
}

async function keep(path: string, kept: Kept): Promise<void> {
  await makeFolder(dirname(path))
  await replaceFile(path, pack(MAGIC, kept))
}
