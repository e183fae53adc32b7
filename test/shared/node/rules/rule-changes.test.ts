import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { unlessGone } from '#shared/node/rules/rule-changes.ts'
import { temporaryFolder } from '../../../support/sites/workspace.ts'

test('what is not there is no failure, and what cannot be read is', t => {
  const dir = temporaryFolder(t)
  writeFileSync(join(dir, 'file'), 'text')
  mkdirSync(join(dir, 'folder'))
  const read = (name: string) => unlessGone(() => readFileSync(join(dir, name), 'utf8'))
  t.is(read('file'), 'text')
  t.is(read('missing'), undefined)
  t.is(read('file/below'), undefined)
  t.throws(() => read('folder'), { code: 'EISDIR' })
  t.throws(() => unlessGone(() => JSON.parse('{')), { instanceOf: SyntaxError })
})
