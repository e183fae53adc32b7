import test from 'ava'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadRules } from '#shared/node/rules/rule-files.ts'
import { type FileReader, readSettled } from '#shared/node/rules/settled-files.ts'
import { warmRule } from '../../../support/rule-texts.ts'
import { temporaryFolder } from '../../../support/sites/workspace.ts'

const NOW = 1_000_000

/** Files with a text for each read; the last one stays. `age` is that of the text at the first read. */
function place(texts: Record<string, (string | undefined)[]>, age = 0): FileReader & { waited: () => number } {
  let [now, waits] = [NOW, 0]
  const reads = new Map<string, number>()
  return {
    read: path => {
      const n = reads.get(path) ?? 0
      reads.set(path, n + 1)
      const text = texts[path]![Math.min(n, texts[path]!.length - 1)]
      return text === undefined ? undefined : { path, text, mtimeMs: NOW - age }
    },
    now: () => now,
    wait: ms => {
      now += ms
      waits++
    },
    waited: () => waits,
  }
}

const read = (texts: Record<string, (string | undefined)[]>, age?: number) => {
  const disk = place(texts, age)
  const found = readSettled(Object.keys(texts), disk)
  const [files, changing] = [found.filter(one => one.settled), found.filter(one => !one.settled)]
  return {
    files: files.map(({ path, text }) => `${path}: ${text}`),
    changing: changing.map(({ path }) => path),
    waited: disk.waited(),
  }
}

test('what was written long ago is read once', t => {
  t.deepEqual(read({ a: ['old', 'never seen'] }, 60_000), { files: ['a: old'], changing: [], waited: 0 })
})

test('what is just being written is read when it is whole', t => {
  t.deepEqual(read({ a: ['', 'id: A', 'id: A\nwhen: x'], b: ['whole'] }), {
    files: ['a: id: A\nwhen: x', 'b: whole'],
    changing: [],
    waited: 3,
  })
})

test('what never comes to rest is left out, and named; the others are read', t => {
  const endless = Array.from({ length: 99 }, (_, i) => `line ${i}`)
  const { files, changing, waited } = read({ a: endless, b: ['whole'] })
  t.deepEqual([files, changing], [['b: whole'], ['a']])
  t.true(waited < 99)
})

test('what is taken away meanwhile is not there', t => {
  t.deepEqual(read({ a: ['half', undefined] }), { files: [], changing: [], waited: 2 })
})

test('a rule that was deployed a moment ago is loaded', t => {
  const dir = temporaryFolder(t)
  mkdirSync(join(dir, 'deep'))
  writeFileSync(join(dir, 'deep', 'warm.yaml'), warmRule())
  const { rules, errors } = loadRules([dir])
  t.deepEqual([rules.map(({ id }) => id), errors], [['TEST-WARM'], []])
})
