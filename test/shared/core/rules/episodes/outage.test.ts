/** The outage of a device, a gateway or a building is one finding; that of one sensor is its own. */
import { readFileSync } from 'node:fs'
import test from 'ava'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { ahu, type Rows, ruleOf, run } from '../../../../support/rules/helpers.ts'

const rules = ['sen-stale', 'sen-outage'].map(name => ruleOf(readFileSync(`rules/sensor/${name}.yaml`, 'utf8')))
const STEP = 5 * MINUTE
const SPAN = 4 * HOUR
const ALIVE = '20x48'
/** Silent from 00:30 on, and one that falls silent an hour later. */
const SILENT = '20x6 _x42'
const LATER = '20x18 _x30'

const box = (equipment_id: string, rows: Rows) => ahu(rows, STEP, { equipment_id, equipment_type: 'vav', parent_id: 'ahu-1' })
const shownOf = (equipment: ReturnType<typeof ahu>[]) => {
  const { findings } = run(rules, equipment, SPAN)
  const shown = findings.filter(({ suppressed_by }) => suppressed_by === undefined)
  return {
    shown: shown.map(({ equipment_id, rule_id, role }) => [equipment_id, rule_id, role].filter(Boolean).join(' ')),
    sentences: shown.map(({ evidence }) => evidence.sentence),
    silenced: findings.length - shown.length,
  }
}

test('one sensor that falls silent is a finding of its own', t => {
  const { shown, silenced } = shownOf([ahu({ sa_t: SILENT, ra_t: ALIVE, oa_t: ALIVE }, STEP)])
  t.deepEqual(shown, ['ahu-1 SEN-STALE sa_t'])
  t.is(silenced, 0)
})

test('a device whose sensors all fall silent is one finding that counts them', t => {
  const { shown, sentences, silenced } = shownOf([ahu({ sa_t: SILENT, ra_t: SILENT, oa_t: SILENT, sa_t_sp: '13x48' }, STEP)])
  t.deepEqual(shown, ['ahu-1 SEN-OUTAGE'])
  t.is(silenced, 3)
  t.regex(sentences[0]!, /^3 of 3 sensors had stopped reporting/)
})

test('a building that falls silent is one finding on what stands uppermost, which names the others', t => {
  const { shown, sentences, silenced } = shownOf([
    ahu({ sa_t: SILENT, ra_t: SILENT, oa_t: SILENT }, STEP),
    box('vav-1', { zone_t: SILENT, zone_flow: SILENT }),
    box('vav-2', { zone_t: SILENT }),
  ])
  t.deepEqual(shown, ['ahu-1 SEN-OUTAGE'])
  t.is(silenced, 3 + 3 + 1)
  t.regex(sentences[0]!, /Sensors of 2 other equipment fell silent at the same time: vav-1, vav-2\.$/)
})

test('an outage of more equipment than a sentence holds says how many more', t => {
  const boxes = Array.from({ length: 11 }, (_, i) => box(`vav-${10 + i}`, { zone_t: SILENT, zone_flow: SILENT }))
  const { shown, sentences } = shownOf([ahu({ sa_t: ALIVE }, STEP), ...boxes])
  t.deepEqual(shown, ['vav-10 SEN-OUTAGE'])
  t.regex(sentences[0]!, /of 10 other equipment .*vav-11, .*vav-18 and 2 more\.$/)
})

test('equipment that falls silent an hour later is an outage of its own, and so is a sensor', t => {
  const { shown } = shownOf([
    ahu({ sa_t: SILENT, ra_t: SILENT }, STEP),
    box('vav-1', { zone_t: LATER, zone_flow: LATER }),
    box('vav-2', { zone_t: ALIVE, zone_flow: LATER, discharge_t: ALIVE }),
  ])
  t.deepEqual(shown.toSorted(), ['ahu-1 SEN-OUTAGE', 'vav-1 SEN-OUTAGE'])
})

test('two single sensors of different equipment are two findings, three are one outage', t => {
  const alive = { discharge_t: ALIVE, zone_flow: ALIVE }
  const boxes = ['vav-1', 'vav-2', 'vav-3'].map(id => box(id, { zone_t: SILENT, ...alive }))
  const unit = ahu({ sa_t: ALIVE, ra_t: ALIVE }, STEP)
  t.is(shownOf([unit, ...boxes.slice(0, 2)]).shown.length, 2)
  const { shown, sentences } = shownOf([unit, ...boxes])
  t.deepEqual(shown, ['vav-1 SEN-STALE zone_t'])
  t.regex(sentences[0]!, /of 2 other equipment/)
})

test('several sensors of one device that keep reporting otherwise are one outage too', t => {
  const rest = { ma_t: ALIVE, ra_rh: '0.4x48', oa_t: ALIVE, sa_rh: '0.5x48' }
  const { shown, sentences } = shownOf([ahu({ sa_t: SILENT, ra_t: SILENT, duct_static: '200x6 _x42', ...rest }, STEP)])
  t.is(shown.length, 1)
  t.regex(sentences[0]!, /2 more of its sensors fell silent at the same time\.$/)
})

test('a sensor that stays silent long after the outage is shown beside it', t => {
  const returned = '20x6 _x18 20x24'
  const { shown } = shownOf([
    ahu({ sa_t: returned, ra_t: returned, oa_t: returned }, STEP),
    box('vav-1', { zone_t: SILENT, zone_flow: returned, discharge_t: returned }),
  ])
  t.deepEqual(shown, ['ahu-1 SEN-OUTAGE', 'vav-1 SEN-STALE zone_t'])
})
