/** A copy of the committed tree, in which one line at a time is altered. */
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { runInGroup } from '../lib/process-group.ts'
import { type Alteration, alter } from './alterations.ts'

export type Tree = {
  root: string
  files(...globs: string[]): string[]
  read(file: string): string
  /** Runs `work` while these lines are altered, at most one of a file. */
  altered<T>(alterations: readonly Alteration[], work: () => Promise<T>): Promise<T>
  /** @returns the exit code and output; `late` when it was ended because of its time */
  run(command: readonly string[], timeoutMs: number): Promise<{ code: number; output: string; late: boolean }>
  /** Ends what still runs in it and removes it. */
  remove(): void
}

/** Length of the retained end of a command's output: enough for one failed test. */
const OUTPUT_MAX = 64 * 1024

export function copyTree(commit: string): Tree {
  const folder = mkdtempSync(join(tmpdir(), 'plenum-alter-'))
  const root = join(folder, 'tree')
  execFileSync('git', ['clone', '--quiet', '--no-checkout', '.', root])
  execFileSync('git', ['-C', root, 'checkout', '--quiet', '--detach', commit])
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'))
  // A lock file that is newer than the packages would make a test that calls scripts/setup.sh install them again, for all.
  const { atime, mtime } = statSync('package-lock.json')
  utimesSync(join(root, 'package-lock.json'), atime, mtime)
  // Recorded and labelled data are beside the tree.
  if (existsSync('../shared')) symlinkSync(resolve('../shared'), join(folder, 'shared'))
  // Its own temporary folder: a test that is ended leaves its files there.
  const temporary = join(folder, 'tmp')
  mkdirSync(temporary)
  const env = { ...process.env, PATH: `${root}/node_modules/.bin:${process.env['PATH']}`, TMPDIR: temporary }
  const running = new Set<() => void>()
  const sourceOf = (file: string) => readFileSync(join(root, file), 'utf8')
  return {
    root,
    files: (...globs) =>
      execFileSync('git', ['-C', root, 'ls-files', '--', ...globs], { encoding: 'utf8' })
        .split('\n')
        .filter(Boolean),
    read: sourceOf,
    async altered(alterations, work) {
      const sources = new Map(alterations.map(({ file }) => [file, sourceOf(file)]))
      try {
        for (const alteration of alterations) {
          const changed = alter(sources.get(alteration.file)!, alteration)
          if (changed === undefined) throw new Error(`${alteration.file} has no line ${alteration.before}`)
          writeFileSync(join(root, alteration.file), changed)
        }
        return await work()
      } finally {
        for (const [file, source] of sources) writeFileSync(join(root, file), source)
      }
    },
    async run(command, timeoutMs) {
      let output = ''
      const { end, ended } = runInGroup(command, {
        cwd: root,
        env,
        timeoutMs,
        onText: text => (output = (output + text).slice(-OUTPUT_MAX)),
      })
      running.add(end)
      const { code, isLate } = await ended.finally(() => running.delete(end))
      return { code, output, late: isLate }
    },
    remove() {
      for (const end of running) end()
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}
