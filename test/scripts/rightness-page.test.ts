import test from 'ava'
import { findPart, type RightnessResults, type RightnessSet, rightnessPage } from '#scripts/lib-rightness/rightness-page.ts'

const fault = (level: number, visible_h: number, hours: number | null, right = false) => ({
  fault: 'reheat_leak',
  level,
  visible_h,
  found: hours !== null,
  right,
  hours,
})

const results: RightnessResults = {
  buildings: 7,
  equipment_weeks: { vav: 12.5 },
  false_per_equipment_week: { vav: 0.08 },
  healthy_equipment_without_any: { vav: '9/10' },
  false_by_rule: [{ type: 'vav', rule: 'VAV-STARVED', findings: 1, equipment: 1, per_week: 0.08 }],
  faults: [fault(2, 100, 3, true), fault(2, 100, 12), fault(2, 100, null), fault(1, 4, 7, true), fault(0, 3.9, 1, true)],
}
const set: RightnessSet = {
  title: 'Training',
  note: 'Looked at.',
  seeds: [1, 2, 3, 7, 9, 10],
  date: '2026-03-02',
  version: '0.1.0+0123456789ab',
  results,
}
const page = rightnessPage([set])

test('each fault and intensity has what was found, named rightly, and the median hours of what was found', t => {
  t.true(page.includes('| reheat_leak | gross | 3 | 2 | 1 | 7.5 |\n'))
  t.true(page.includes('| reheat_leak | middling | 1 | 1 | 1 | 7.0 |\n'))
})

test('a fault that shows for less than four hours is counted apart', t => {
  t.true(page.includes('Of 4 visible faults 3 were found and 2 named rightly; the median time to detection is 7.0 h.\n'))
  t.true(page.includes('which the tables leave out: 1.\n'))
  t.true(page.includes('| slight | 0 | 0 | 0 | – |\n'))
  t.false(page.includes('| reheat_leak | slight'))
})

test('false findings are listed by equipment and by rule', t => {
  t.true(page.includes('| vav | 12.5 | 0.08 | 9/10 |\n'))
  t.true(page.includes('| VAV-STARVED | vav | 1 | 1 | 0.08 |\n'))
  const quiet = { ...set, results: { ...results, false_by_rule: [] } }
  t.regex(rightnessPage([quiet]), /\nNo rule has a false finding\.\n$/)
})

test('a page names version, date and the seeds of each set in ranges', t => {
  t.true(page.includes('7 buildings, seeds 1–3, 7, 9–10, measured on 2026-03-02 with version 0.1.0+0123456789ab.'))
})

test('a part that is not measured anew stays as it was, with its version', t => {
  const first = rightnessPage([set, { ...set, title: 'Confirmation' }])
  const second = rightnessPage([findPart(first, 'Training')!, { ...set, title: 'Confirmation', version: '0.2.0' }])
  t.is(second, first.replace(/(## Confirmation[^]*)0\.1\.0\+0123456789ab/, '$10.2.0'))
  t.is(findPart(first, 'Other'), undefined)
})
