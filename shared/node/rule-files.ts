/** Rule files on disk. They are read afresh each time: nothing is kept between two calls. */
import { readdirSync, readFileSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseRule } from '#shared/core/rules/parse-rule.ts'
import type { Rule, WrittenRule } from '#shared/core/rules/types.ts'
import type { Complaint } from '#shared/core/rules/yaml-text.ts'
import { decidedChanges, unlessGone } from './rule-changes.ts'
import { type Look, type Looking, type Reading, readSettled } from './settled-files.ts'

/** Files of one folder, with those of its own folders; a catalogue of ten times ours. */
const FILES_MAX = 5000
const DEPTH_MAX = 8

export type RuleFile = { path: string; text: string }
export type FileError = Complaint & { filename: string }
/** `rules` by id; a file that does not check is left out and its complaints are listed. */
export type Loaded<R extends Rule = WrittenRule> = { rules: R[]; errors: FileError[] }
/** What comes of a file: a rule, or every complaint and the rule that counts instead, if one does. */
export type Read<R extends Rule> = (file: Reading) => { ok: true; rule: R } | { ok: false; errors: Complaint[]; instead?: R }

/**
 * Loads every `.yaml` and `.yml` below the folders.
 *
 * A change in the middle of a load is seen whole or not at all, also one of many files that was deployed as one; so is a
 * file that somebody is just writing, which is waited for a little. Of two rules with one id the one in the later folder counts; within a
 * folder a second one is an error.
 *
 * @param dirs folders in rising precedence; one that is not there is empty
 */
export const loadRules = (dirs: string[]): Loaded => loadParsed(dirs, readRule)

const WRITING: Complaint = { line: 1, column: 1, message: 'is just being written' }

/** A file that still changes is no rule, whatever it holds by now, and one that cannot be read stands in nobody's way. */
export function readRule({ path, text, settled, fault }: Reading): ReturnType<typeof parseRule> {
  if (fault !== undefined) return { ok: false, errors: [{ line: 1, column: 1, message: `cannot be read: ${fault}` }] }
  return settled ? parseRule(text, path) : { ok: false, errors: [WRITING] }
}

/** As `loadRules`, with another way from a file to a rule. */
export function loadParsed<R extends Rule>(dirs: string[], read: Read<R>): Loaded<R> {
  const rules = new Map<string, R>()
  const errors: FileError[] = []
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
    }
    for (const [id, rule] of own) rules.set(id, rule)
  }
  return { rules: [...rules.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)), errors }
}

/** How a rule file gives its id. */
const ID_LINE = /^id:\s*["']?([^\s"'#]+)["']?\s*(?:#.*)?$/m

/**
 * Loads the named rules alone: the other files are looked through and not parsed.
 *
 * @param dirs as for `loadRules`
 * @returns by id; a rule that is not there, or does not check, is left out
 */
export function findRules(dirs: string[], ids: Iterable<string>): Map<string, WrittenRule> {
  const wanted = new Set(ids)
  const found = new Map<string, WrittenRule>()
  for (const dir of wanted.size > 0 ? dirs : []) {
    const own = new Set<string>()
    for (const { path, text } of readRuleFiles(dir)) {
      const id = ID_LINE.exec(text)?.[1]
      if (id === undefined || !wanted.has(id) || own.has(id)) continue
      const parsed = parseRule(text, path)
      if (!parsed.ok) continue
      own.add(id)
      found.set(id, parsed.rule)
    }
  }
  return found
}

/** @returns the texts of a folder's rule files that can be read, sorted by path; a single file is a folder of one */
export function readRuleFiles(dir: string): RuleFile[] {
  return rulePaths(dir).flatMap(path => {
    const found = look(path)
    return found && found.fault === undefined ? [{ path, text: found.text }] : []
  })
}

/** How long ago a folder changed so that another change in the same moment could be told from it, ms: two ticks of any kernel. */
const TICK_MS = 20
const TRIES_MAX = 20

/** Reads a folder's files as they are together at one moment: again when files came, went or moved meanwhile. */
function readWhole(dir: string): Reading[] {
  for (let tries = 1; ; tries++) {
    const before = changedAt(dir)
    if (Date.now() - before < TICK_MS) DISK.wait(TICK_MS)
    const found = readSettled(rulePaths(dir), DISK)
    if (changedAt(dir) === before || tries === TRIES_MAX) return found
  }
}

const changedAt = (dir: string): number => unlessGone(() => statSync(dir).mtimeMs) ?? 0

function rulePaths(dir: string): string[] {
  const { put, gone } = decidedChanges(dir)
  const paths = [...pathsBelow(dir, 0).filter(path => !put.has(path) && !gone.has(path)), ...put.values()]
  if (paths.length > FILES_MAX) throw new RangeError(`${dir} holds more than ${FILES_MAX} rule files`)
  return paths
}

const cell = new Int32Array(new SharedArrayBuffer(4))
const DISK: Looking = {
  look,
  now: Date.now,
  wait: ms => void Atomics.wait(cell, 0, 0, ms),
}

function look(path: string): Look | undefined {
  try {
    return unlessGone(() => {
      const text = readFileSync(path, 'utf8')
      return { path, text, mtimeMs: statSync(path).mtimeMs }
    })
  } catch (error) {
    return { path, text: '', mtimeMs: 0, fault: (error as Error).message }
  }
}

/** @throws Error for a folder that cannot be listed: without its rules a run would say what is not so */
function pathsBelow(path: string, depth: number): string[] {
  const named = /\.ya?ml$/.test(path) ? [path] : []
  const stat = depth > 0 ? entryStat(path) : unlessGone(() => statSync(path))
  if (stat === 'unreadable') return named // reading it says why
  if (!stat || depth > DEPTH_MAX) return []
  if (stat.isFile()) return named
  const names = unlessGone(() => readdirSync(path)) ?? []
  return names
    .filter(name => !name.startsWith('.'))
    .toSorted()
    .flatMap(name => pathsBelow(join(path, name), depth + 1))
}

/** A link that leads to itself, for one. */
function entryStat(path: string): Stats | 'unreadable' | undefined {
  try {
    return unlessGone(() => statSync(path))
  } catch {
    return 'unreadable'
  }
}
