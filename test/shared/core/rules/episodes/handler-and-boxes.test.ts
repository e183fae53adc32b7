/** The shipped rules of a handler and of its boxes: what is the handler's is not said of each box. */
import test from 'ava'
import { DAY, HOUR } from '#shared/core/time.ts'
import { loadRules } from '#shared/node/rules/rule-files.ts'
import { ahu, run } from '../../../../support/rules/helpers.ts'

const NAMES = ['AHU-STATIC-HIGH', 'AHU-FAN-HELD', 'VAV-DAMPER-DEMAND']
const { rules } = loadRules([new URL('../../../../../rules', import.meta.url).pathname])
const shipped = rules.filter(({ id }) => NAMES.includes(id))
const BOXES = ['vav-1', 'vav-2', 'vav-3']

/** Five days at 200 and at 500 Pa by turns, each as it is set, then one at 500 Pa on which the boxes open half as far again. */
function siteOf(setPoint: number, speed: string) {
  const more = { feeds: BOXES }
  const handler = ahu(
    {
      fan_status: '1x144',
      fan_speed: `(0.5x12 0.8x12)x5 ${speed}`,
      duct_static: '(200x12 500x12)x5 500x24',
      duct_static_sp: `(200x12 500x12)x5 ${setPoint}x24`,
    },
    HOUR,
    more,
  )
  const box = (equipment_id: string) =>
    ahu({ damper: '(0.4x12 0.3x12)x5 0.45x24', zone_flow: '0.2x144', zone_flow_sp: '0.2x144' }, HOUR, {
      equipment_id,
      equipment_type: 'vav',
      parent_id: 'ahu-1',
    })
  return [handler, ...BOXES.map(box)]
}

function said(setPoint: number, speed: string): string[] {
  const { findings } = run(shipped, siteOf(setPoint, speed), 6 * DAY)
  const byId = new Map(findings.map(one => [one.finding_id, one.rule_id]))
  return findings
    .map(({ rule_id, equipment_id, suppressed_by }) => `${equipment_id} ${rule_id} ${byId.get(suppressed_by ?? '') ?? 'shown'}`)
    .toSorted()
}

test('boxes that throttle a pressure far above its set point are explained by it', t => {
  t.deepEqual(said(200, '(0.8x1 0.82x1)x12'), [
    'ahu-1 AHU-STATIC-HIGH shown',
    ...BOXES.map(box => `${box} VAV-DAMPER-DEMAND AHU-STATIC-HIGH`),
  ])
})

test('so are those of a fan that is held below its set point', t => {
  t.deepEqual(said(700, '0.8x24'), ['ahu-1 AHU-FAN-HELD shown', ...BOXES.map(box => `${box} VAV-DAMPER-DEMAND AHU-FAN-HELD`)])
})

test('where the handler does what it should, each box speaks for itself', t => {
  t.deepEqual(
    said(500, '(0.8x1 0.82x1)x12'),
    BOXES.map(box => `${box} VAV-DAMPER-DEMAND shown`),
  )
})
