/** Each statement of the specification has the test that shows it. */
import { existsSync, readFileSync } from 'node:fs'
import test from 'ava'
import { ROWS, titleOf } from './rows.ts'
import { STATEMENTS } from './statements.ts'

for (const statement of STATEMENTS) {
  const { text, shownBy } = statement
  test(titleOf(text), t => {
    const file = new URL(`../${shownBy.file}.test.ts`, import.meta.url)
    t.true(existsSync(file), shownBy.file)
    const titles = [...readFileSync(file, 'utf8').matchAll(/\btest(?:\.serial)?\(\s*(['"`])(.*?)\1,/gs)].map(
      ([, , title]) => title!,
    )
    t.is(titles.filter(title => title.includes(shownBy.title)).length, 1, `${shownBy.file}: ${shownBy.title}`)
  })
}

test('no row of the specification is there twice', t => t.is(new Set(ROWS).size, ROWS.length))
