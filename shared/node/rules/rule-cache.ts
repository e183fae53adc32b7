/**
 * Cache of parsed rules, keyed by source text and program version. Files are read each time, but parsed only when their
 * text is new: checking the catalogue with its tests takes a hundred times as long as running it over an hour.
 *
 * A program may pause for seconds while it writes a file, and half a rule may pass the check. Tests come last in a file, so
 * a rule with tests is complete. A file without tests, or with errors, is accepted when it has not changed for a while;
 * until then the earlier rule of the file applies.
 *
 * The cache is derived data: a missing, damaged or outdated entry is parsed again.
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { sha256 } from '#shared/core/findings/finding-id.ts'
import type { Rule, WrittenRule } from '#shared/core/rules/check/rule.ts'
import { SECOND } from '#shared/core/time.ts'
import { makeFolder, replaceFile } from '#shared/node/files.ts'
import { pack, unpack } from './packed.ts'
import { type LoadedRules, loadParsed, type ParseRuleFile, readRule } from './rule-files.ts'
import { QUIET_MS, type SettledFile } from './settled-files.ts'

/** The first eight bytes of the file; the last one is the version of this layout. */
const MAGIC = Buffer.from('PLENUMR3')

/** A rule without its tests. `gate` and `lets` are the source texts that pages show. */
export type CachedRule = Rule & { gate?: string; lets: Record<string, string> }
/** `isProvisional`: a file changed so recently that it may soon be accepted or refused. */
export type LoadedFromCache = LoadedRules<CachedRule> & { isProvisional: boolean }

/** Content of the file: rules by the path of their file. */
type CacheFile = { version: string; rules: Map<string, CachedRule> }

export type RuleCache = {
  /** As `loadRules`, without tests. @param dirs folders in rising precedence */
  load(dirs: string[]): Promise<LoadedFromCache>
}

/**
 * @param path file of the cache. It may be deleted at any time; if it cannot be written, the cache is in memory only.
 * @param version version of the program: another one may parse the same text differently
 */
export function openRuleCache(path: string, version: string): RuleCache {
  let known: Map<string, CachedRule> | undefined
  return {
    async load(dirs) {
      const before = (known ??= readKept(path, version))
      const now = new Map<string, CachedRule>()
      let isProvisional = false
      const loaded = loadParsed(dirs, file => {
        const got = readAfter(before.get(file.path), file)
        isProvisional ||= !got.ok && (isYoung(file) || !file.settled)
        const rule = got.ok ? got.rule : got.instead
        if (rule) now.set(file.path, rule)
        return got
      })
      known = now
      const isSame = now.size === before.size && [...now].every(([filename, rule]) => before.get(filename) === rule)
      if (!isSame) await keep(path, { version, rules: now }).catch(() => undefined)
      return { ...loaded, isProvisional }
    },
  }
}

const isYoung = ({ mtimeMs }: SettledFile): boolean => Math.abs(Date.now() - mtimeMs) < QUIET_MS

/** @param last the rule that the file held when it was last read */
function readAfter(last: CachedRule | undefined, file: SettledFile): ReturnType<ParseRuleFile<CachedRule>> {
  if (last?.sha256 === sha256(file.text)) return { ok: true, rule: last }
  const parsed = readRule(file)
  if (parsed.ok && (parsed.rule.tests.length > 0 || !isYoung(file))) return { ok: true, rule: withoutTests(parsed.rule) }
  const complaints = parsed.ok ? [UNFINISHED] : parsed.errors
  if (!last || !isYoung(file)) return { ok: false, errors: complaints }
  const errors = complaints.map(one => ({ ...one, message: `${one.message}; the earlier rule of the file applies` }))
  return { ok: false, errors, instead: last }
}

function withoutTests({ body, tests: _tests, ...rule }: WrittenRule): CachedRule {
  const { gate, let: lets } = body
  const texts = typeof lets === 'object' && lets !== null ? Object.entries(lets) : []
  return {
    ...rule,
    ...(gate !== undefined && { gate: String(gate) }),
    lets: Object.fromEntries(texts.map(([name, text]) => [name, String(text)])),
  }
}

const UNFINISHED = {
  line: 1,
  column: 1,
  message: `has no tests and was changed less than ${QUIET_MS / SECOND} s ago: it may be incomplete`,
}

function readKept(path: string, version: string): Map<string, CachedRule> {
  try {
    const kept = existsSync(path) ? (unpack(MAGIC, readFileSync(path)) as CacheFile) : undefined
    return kept?.version === version ? kept.rules : new Map()
  } catch {
    return new Map()
  }
}

async function keep(path: string, kept: CacheFile): Promise<void> {
  await makeFolder(dirname(path))
  await replaceFile(path, pack(MAGIC, kept))
}
