/** Pages in a language that marks what the product says: what is not marked is data, or a text that German lacks. */
import test from 'ava'
import { EDGES, EQUIPMENT, FINDINGS, RULE_FILE } from '../../../../support/page-fixture.ts'
import { openSite, PASSWORDS } from '../../../../support/sites/page-site.ts'
import { signedIn } from '../../../../support/signed-in.ts'
import { MARKED, unmarkedWords } from '../../../../support/pages/marked-language.ts'

/** Names in the fixtures, and texts that a site or the API writes. */
const DATA = [
  ...FINDINGS.flatMap(({ title, evidence }) => [evidence.sentence, title]),
  /title: (.*)/.exec(RULE_FILE)![1]!,
  ...EQUIPMENT.map(({ name }) => name),
  ...EDGES.map(({ name }) => name),
  ...['Riverside School', 'Riverside box', 'Riverside plant room', 'riverside', 'Campus hub', 'Main meter'],
  'no answer from 10.0.0.9:502 within 3 s (3 tries)',
  'Supply air was 7.4 °F above its set point of 55.0 °F with the cooling valve at 100 %, for 6 h.',
  ...['ASHRAE Guideline', 'low airflow', 'bacnet', 'dev ', 'damper', '°C, kPa, L/s'],
  // Roles and rows of the audit log.
  ...['admin', 'operator', 'viewer', 'agent', 'open', 'nobody', 'login', 'public'],
]
/** A rule is shown with the texts of its file, and an unknown page with what the API says. */
const OF_FILES = /^\/(?:fault-rules|params)\/.|\/overrides\?site_id/
const FILE = /^\/(?:static|api)\/|csv|logout/
/** Pages that differ in their parameters alone are opened so often. */
const ALIKE = 3

for (const product of ['appliance', 'hub'] as const) {
  test(`every page of the ${product} says nothing that German lacks`, async t => {
    const site = await openSite({ product, api: true, pageLanguageOf: () => MARKED })
    t.teardown(site.close)
    const { get } = await signedIn(site.url, 'admin', PASSWORDS.admin)
    const paths = new Set(['/'])
    const alike = new Map<string, number>()
    const found = new Map<string, string>()
    for (const path of paths) {
      const answer = await get(path)
      if (!answer.headers.get('content-type')?.startsWith('text/html')) continue
      const page = await answer.text()
      if (!OF_FILES.test(path))
        for (const text of unmarkedWords(page, path === '/' ? DATA : [path.replaceAll('&', '&amp;'), path, ...DATA]))
          found.set(text, path)
      for (const [, href] of page.matchAll(/(?:href|hx-get)="(\/[^"#]*)/g)) {
        const next = href!.replaceAll('&amp;', '&')
        const kind = next.replaceAll(/=[^&]*/g, '').replace(/^(\/(?:fault-rules|params|faults)\/).*/, '$1')
        const seen = alike.get(kind) ?? 0
        alike.set(kind, seen + 1)
        if (!FILE.test(next) && seen < ALIKE) paths.add(next)
      }
    }
    t.true(paths.size > 100, `${paths.size} pages`)
    t.deepEqual([...found], [])
  })
}
