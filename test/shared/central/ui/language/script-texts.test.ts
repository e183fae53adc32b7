/** The scripts of pages have their texts in the language of the page. */
import { readdirSync, readFileSync } from 'node:fs'
import test from 'ava'
import { GERMAN } from '#shared/central/ui/language/german.ts'
import { SCRIPT_TEXTS, scriptTexts } from '#shared/central/ui/language/script-texts.ts'
import { inLanguage } from '#shared/node/http/language.ts'

const SCRIPTS = readdirSync('shared/static')
  .filter(name => name.endsWith('.js'))
  .map(name => readFileSync(`shared/static/${name}`, 'utf8'))

test('every text that a script says is given to it, and none that no script says', t => {
  const said = SCRIPTS.flatMap(text => [...text.matchAll(/\bsay\(\s*'([^']+)'/g)].map(([, english]) => english!))
  const months = /const MONTHS = \[([^\]]+)\]\.map\(month => say\(month\)\)/.exec(SCRIPTS.join('\n'))![1]!
  const all = [...said, ...[...months.matchAll(/'(\w+)'/g)].map(([, month]) => month!)]
  t.deepEqual([...new Set(all)].toSorted(), SCRIPT_TEXTS.toSorted())
})

test('a page in English gives its scripts nothing, one in German gives them all', t => {
  t.is(scriptTexts(), undefined)
  const german = JSON.parse(inLanguage(GERMAN, scriptTexts)!) as Record<string, string>
  t.deepEqual(Object.keys(german), [...SCRIPT_TEXTS])
  t.is(german['Go on ({0} waiting)'], 'Weiter ({0} warten)')
  t.is(german['May'], 'Mai')
})
