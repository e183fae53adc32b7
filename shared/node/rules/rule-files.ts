/** Reads rule files. Nothing is cached between two calls. */
import { readdirSync, readFileSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { errorText } from '#shared/core/error-text.ts'
import { parseRule } from '#shared/core/rules/check/parse-rule.ts'
import { sha256 } from '#shared/core/findings/finding-id.ts'
import type { Rule, WrittenRule } from '#shared/core/rules/check/rule.ts'
import type { YamlError } from '#shared/core/rules/language/yaml-text.ts'
import { decidedChanges, unlessGone } from './rule-changes.ts'
import { type FileSnapshot, type FileReader, type SettledFile, readSettled } from './settled-files.ts'

/** Maximum number of files below one folder: ten times the shipped catalogue. */
const FILES_MAX = 5000
const DEPTH_MAX = 8

type FileError = YamlError & { filename: string }
/** A rule file that was read. `rule_id` is missing where none of its rules is in force within its folder. */
export type FileRecord = { path: string; sha256: string; bytes: number; changed_at: number; rule_id?: string }
/** `rules` are ordered by id. A file with errors is left out, and its errors are listed. */
export type LoadedRules<R extends Rule = WrittenRule> = { rules: R[]; errors: FileError[]; files: FileRecord[] }
/** Result of parsing a file: a rule, or all errors and the earlier rule that applies instead, if there is one. */
export type ParseRuleFile<R extends Rule> = (
  file: SettledFile,
) => { ok: true; rule: R } | { ok: false; errors: YamlError[]; instead?: R }

/**
 * Loads every `.yaml` and `.yml` below the folders.
 *
 * A change during a load is seen completely or not at all, also a deployment of many files. A file that is just being
 * written is read again after a short wait. Of two rules with one id the one in the later folder applies; within a folder a
 * second one is an error.
 *
 * @param dirs folders in rising precedence; a missing one is empty
 */
export const loadRules = (dirs: string[]): LoadedRules => loadParsed(dirs, readRule)

const WRITING: YamlError = { line: 1, column: 1, message: 'is just being written' }

/** Parses a file. A file that is still changing or cannot be read is an error, whatever its content. */
export function readRule({ path, text, settled, fault }: SettledFile): ReturnType<typeof parseRule> {
  if (fault !== undefined) return { ok: false, errors: [{ line: 1, column: 1, message: `cannot be read: ${fault}` }] }
  return settled ? parseRule(text, path) : { ok: false, errors: [WRITING] }
}

/** As `loadRules`, with another parser. */
export function loadParsed<R extends Rule>(dirs: string[], read: ParseRuleFile<R>): LoadedRules<R> {
  const rules = new Map<string, R>()
  const errors: FileError[] = []
  const files: FileRecord[] = []
  for (const dir of dirs) {
    const own = new Map<string, R>()
    for (const file of readWhole(dir)) {
      const filename = file.path
      const got = read(file)
      if (!got.ok) errors.push(...got.errors.map(error => ({ ...error, filename })))
      const rule = got.ok ? got.rule : got.instead
      const same = rule && own.get(rule.id)
      if (same) errors.push({ line: 1, column: 1, message: `${rule.id} is already in ${same.filename}`, filename })
      else if (rule) own.set(rule.id, rule)
      files.push({ ...recordOf(file), ...(rule && !same && { rule_id: rule.id }) })
    }
    for (const [id, rule] of own) rules.set(id, rule)
  }
  return { rules: [...rules.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)), errors, files }
}

const recordOf = ({ path, text, mtimeMs }: SettledFile): FileRecord => {
  return { path, sha256: sha256(text), bytes: Buffer.byteLength(text), changed_at: mtimeMs }
}

/** Two changes of a folder within this time may have the same timestamp, ms: two ticks of any kernel. */
const TICK_MS = 20
const TRIES_MAX = 20

/** Reads the files of a folder in a consistent state: again when files appeared, disappeared or moved meanwhile. */
function readWhole(dir: string): SettledFile[] {
  for (let tries = 1; ; tries++) {
    const before = changedAt(dir)
    if (Date.now() - before < TICK_MS) DISK.wait(TICK_MS)
    const found = readSettled(rulePaths(dir), DISK)
    if (changedAt(dir) === before || tries === TRIES_MAX) return found
  }
}

const changedAt = (dir: string): number => unlessGone(() => statSync(dir).mtimeMs) ?? 0

const rulePaths = (dir: string): string[] => ruleEntries(dir).map(({ path }) => path)

/** An entry of a folder. Without `stat` its kind is unknown; reading it gives the reason. */
type Entry = { path: string; stat: Stats | undefined }

function ruleEntries(dir: string): Entry[] {
  const { put, gone } = decidedChanges(dir)
  const staged = [...put.values()].map(path => ({ path, stat: knownStat(path) }))
  const entries = [...entriesBelow(dir, 0).filter(({ path }) => !put.has(path) && !gone.has(path)), ...staged]
  if (entries.length > FILES_MAX) throw new RangeError(`${dir} holds more than ${FILES_MAX} rule files`)
  return entries
}

/** `text` changes when any rule file may have changed; `changedAt` is the newest change of a file, ms. */
export type RuleStamp = { text: string; changedAt: number }

/**
 * Identifies the state of the rule files without reading them: by path, file number, size and both times. The time of the
 * inode is included because a program may set the time of the content freely.
 *
 * @param dirs as for `loadRules`
 */
export function stampRules(dirs: string[]): RuleStamp {
  let changedAt = Number.NEGATIVE_INFINITY
  const lines = dirs.flatMap(dir => [
    dir,
    ...ruleEntries(dir).map(({ path, stat }) => {
      if (!stat) return `${path} unreadable`
      changedAt = Math.max(changedAt, stat.ctimeMs)
      return `${path} ${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`
    }),
  ])
  return { text: lines.join('\n'), changedAt }
}

const cell = new Int32Array(new SharedArrayBuffer(4))
const DISK: FileReader = {
  read: readSnapshot,
  now: Date.now,
  wait: ms => void Atomics.wait(cell, 0, 0, ms),
}

function readSnapshot(path: string): FileSnapshot | undefined {
  try {
    return unlessGone(() => {
      const text = readFileSync(path, 'utf8')
      return { path, text, mtimeMs: statSync(path).mtimeMs }
    })
  } catch (error) {
    return { path, text: '', mtimeMs: 0, fault: errorText(error) }
  }
}

/** @throws Error for a folder that cannot be listed: a run without its rules would be wrong */
function entriesBelow(path: string, depth: number): Entry[] {
  const isNamed = /\.ya?ml$/.test(path)
  const stat = depth > 0 ? entryStat(path) : unlessGone(() => statSync(path))
  if (stat === 'unreadable') return isNamed ? [{ path, stat: undefined }] : []
  if (!stat || depth > DEPTH_MAX) return []
  if (stat.isFile()) return isNamed ? [{ path, stat }] : []
  const names = unlessGone(() => readdirSync(path)) ?? []
  return names
    .filter(name => !name.startsWith('.'))
    .toSorted()
    .flatMap(name => entriesBelow(join(path, name), depth + 1))
}

/** @returns `unreadable` for example for a link to itself */
function entryStat(path: string): Stats | 'unreadable' | undefined {
  try {
    return unlessGone(() => statSync(path))
  } catch {
    return 'unreadable'
  }
}

function knownStat(path: string): Stats | undefined {
  const stat = entryStat(path)
  return stat === 'unreadable' ? undefined : stat
}
