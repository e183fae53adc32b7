import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import pino from 'pino'
import { watchFiles } from '#shared/node/watched-files.ts'
import { folder } from '../../support/folders.ts'

/** Two files that belong together when both hold the same text. */
async function open(t: ExecutionContext) {
  const dir = folder(t)
  const [a, b] = [join(dir, 'a'), join(dir, 'b')]
  for (const path of [a, b]) writeFileSync(path, 'first')
  const lines: string[] = []
  const log = pino({ base: null, timestamp: false }, { write: line => void lines.push(JSON.parse(line).msg) })
  const read = async () => {
    const [left, right] = [a, b].map(path => readFileSync(path, 'utf8'))
    if (left !== right) throw new Error(`${left} and ${right} do not belong together`)
    return { text: left! }
  }
  const files = await watchFiles({ name: 'pair', paths: [a, b], read, log })
  const seen: string[] = []
  files.onChange(({ text }) => seen.push(text))
  const replace = (path: string, text: string) => {
    writeFileSync(`${path}.new`, text)
    renameSync(`${path}.new`, path)
  }
  return { a, b, files, seen, lines, replace }
}

test('files that are replaced one after the other are used when both are there, without a line in between', async t => {
  const { a, b, files, seen, lines, replace } = await open(t)
  replace(a, 'second')
  await files.look()
  t.is(files.current().text, 'first')
  replace(b, 'second')
  await files.look()
  t.deepEqual([files.current().text, seen, lines], ['second', ['second'], ['pair: the files were changed and are in use']])
})

test('what stays wrong leaves the files as they were, in one line of the log, until it is put right', async t => {
  const { a, b, files, seen, lines, replace } = await open(t)
  replace(a, 'wrong')
  for (let i = 0; i < 4; i++) await files.look()
  t.deepEqual(lines, ['pair: the files were changed and are not used: wrong and first do not belong together'])
  rmSync(b)
  for (let i = 0; i < 4; i++) await files.look()
  t.regex(lines[1]!, /not used: ENOENT/)
  t.deepEqual([files.current().text, seen, lines.length], ['first', [], 2])
  writeFileSync(b, 'wrong')
  await files.look()
  t.deepEqual([files.current().text, seen], ['wrong', ['wrong']])
})

test('a file that is written again with the same content is no change', async t => {
  const { a, files, seen, lines, replace } = await open(t)
  replace(a, 'first')
  await files.look()
  t.deepEqual([seen, lines], [[], []])
})

test('once started, the files are looked at without being asked', async t => {
  const { a, b, files, seen, replace } = await open(t)
  await files.start()
  t.teardown(() => files.stop())
  for (const path of [a, b]) replace(path, 'later')
  const end = Date.now() + 20_000
  while (seen.length === 0 && Date.now() < end) await new Promise(resolve => setTimeout(resolve, 20))
  t.deepEqual(seen, ['later'])
})
