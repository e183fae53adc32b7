/** The card of conditions that held too briefly, or are sampled too seldom, to count. */
import test from 'ava'
import type { Shortfall } from '#shared/core/findings/finding.ts'
import { type UnconfirmedResult, unconfirmedCard, unconfirmedText } from '#shared/central/pages/faults/unconfirmed-card.ts'

const short = (of: Shortfall['of'], held_secs: number, needs_secs: number): Shortfall => ({ of, held_secs, needs_secs })
const brief = (rule_id: string, ...shortfalls: Shortfall[]): UnconfirmedResult => ({
  rule_id,
  equipment_id: 'ahu-1',
  unconfirmed: { date: '2026-01-14', short: shortfalls },
})
const words = (results: UnconfirmedResult[]) => {
  const card = unconfirmedCard({ building_id: 'school', results, titleOf: id => `title of ${id}`, nameOf: id => `name of ${id}` })
  return card
    ? String(card)
        .replace(/<[^>]+>/g, ' ')
        .replace(/\s+/g, ' ')
    : ''
}

test('each kind of time that is lacking has its words', t => {
  t.is(unconfirmedText(brief('A', short('persistence', 3600, 7200))), 'held for 1 h without a break, needs 2 h (2026-01-14)')
  t.is(unconfirmedText(brief('A', short('daily_minimum', 2700, 14_400))), 'held for 45 min in the day, needs 4 h (2026-01-14)')
  t.is(unconfirmedText(brief('A', short('window', 3600, 90_000))), 'stood still for 1 h, needs 25 h (2026-01-14)')
  const seldom = { rule_id: 'A', equipment_id: 'ahu-1', sampling: { every_secs: 900, needs_secs: 300 } }
  t.is(unconfirmedText(seldom), 'sampled every 15 min, needs every 5 min')
})

test('the nearest comes first, and many are cut off with their number', t => {
  const found = words([brief('FAR', short('persistence', 900, 7200)), brief('NEAR', short('persistence', 6900, 7200))])
  t.true(found.indexOf('title of NEAR') < found.indexOf('title of FAR'))
  const many = words(Array.from({ length: 130 }, (_, i) => brief(`R-${i}`, short('persistence', 900, 7200))))
  t.regex(many, /and 30 others/)
})

test('there is no card where nothing came near', t => {
  t.is(words([{ rule_id: 'A', equipment_id: 'ahu-1' }]), '')
})
