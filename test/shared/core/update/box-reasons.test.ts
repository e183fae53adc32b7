import { readFileSync } from 'node:fs'
import test from 'ava'
import { BOX_REASONS } from '#shared/core/update/box-reasons.ts'
import { GERMAN } from '#shared/central/ui/language/german.ts'
import { inLanguage, sayMade } from '#shared/node/http/language.ts'

const SCRIPT = readFileSync(new URL('../../../../image/root/usr/lib/plenum/confirm', import.meta.url), 'utf8')
/** `tell STATE VERSION 'REASON'`, `reason='…'`, and what goes into `reason.txt`. */
const WRITTEN = /(?:tell \w+ \S+ |reason=)'([^']+)'|echo "([^"]+)" > \$updates\/reason\.txt/g

test('the reasons that a box writes of an update are those that pages know, both ways', t => {
  const written = [...SCRIPT.matchAll(WRITTEN)].map(([, plain, echoed]) =>
    (plain ?? echoed!).replace('$waited', '{0}').replace('$(lacking)', '{1}'),
  )
  t.deepEqual(written.toSorted(), BOX_REASONS.toSorted())
})

test('a reason is said in German with its values', t => {
  inLanguage(GERMAN, () => {
    t.is(sayMade('it did not start'), 'sie startete nicht')
    t.is(sayMade('it was not healthy for 300 s: no answer'), 'sie war 300 s lang nicht gesund: no answer')
  })
})
