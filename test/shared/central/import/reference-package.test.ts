/**
 * The reference platform's package, case by case, imported as a person would: it maps wholly, and its fault of an hour is found, or the
 * run and its page say which time kept it from counting.
 */
import test from 'ava'
import { importer } from '../../../support/packages/importer.ts'
import { CASES, FAULT_FROM, FAULT_TO, referencePackage } from '../../../support/packages/reference-package.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral({ pages: true })
})
test.after.always(() => site?.close())
const { preflight, execute } = importer(() => site)
const words = (html: string) => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')

/** What each case comes to: found, or what it says of the time that it lacks. */
const OUTCOMES: Record<string, RegExp | 'found'> = {
  'SEN-FLAT': /stood still for 1 h, needs 25 h \(2026-01-14\)/,
  'AHU-HUNT-DAMPER': /held for \d+ (min|h)[^,]* in the day, needs 4 h \(2026-01-14\)/,
  'AHU-FC1-STATIC-LOW': /held for \d+ min in the day, needs 1 h \(2026-01-14\)/,
  'AHU-MECH-COOL-COLD': /held for 1 h in the day, needs 2 h \(2026-01-14\)/,
  'ZONE-COMFORT': /held for \d+ (min|h)[^,]* in the day, needs 2 h \(2026-01-14\)/,
  'AHU-UNOCCUPIED-RUN': /held for 1 h without a break, needs 2 h; held for 1 h in the day, needs 5 h 30 min \(2026-01-14\)/,
}

for (const [i, one] of CASES.entries()) {
  test.serial(`the package with ${one.what} maps wholly, and its fault is found or says what it lacks`, async t => {
    const building_id = `reference-${i}`
    const { body } = await preflight(referencePackage(one, building_id))
    t.is(body.verdict, 'pass', JSON.stringify(body.checks))
    const { columns } = body.equipment[0]
    t.deepEqual(
      columns.filter(({ status }: { status: string }) => status !== 'mapped'),
      [],
    )
    t.is((await execute(body.session_id)).status, 200)
    const run = await site.call('operator', 'POST', '/api/fdd/run', { building_id, from: '2026-01-12T00:00:00Z' })
    t.is(run.status, 200, run.text)
    const result = run.body.results.find((each: { rule_id: string }) => each.rule_id === one.rule_id)
    t.is(result.missing_roles, undefined, JSON.stringify(result))
    const outcome = OUTCOMES[one.rule_id]!
    if (outcome === 'found') {
      const { body: found } = await site.call('viewer', 'GET', `/api/fdd/findings?building_id=${building_id}`)
      const finding = found.findings.find((each: { rule_id: string }) => each.rule_id === one.rule_id)
      t.true(Date.parse(finding.from) < FAULT_TO && Date.parse(finding.to) > FAULT_FROM)
      return
    }
    const page = await site.call('viewer', 'GET', `/runs?building=${building_id}`)
    t.is(page.status, 200)
    const row = page.text.split('<tr>').find(text => text.includes(`>${one.rule_id}<`))
    t.false(row?.includes(`<div>${one.rule_id} `), 'the rule has its title there')
    t.regex(words(row ?? `no row of ${one.rule_id} among ${words(page.text)}`), outcome)
  })
}
