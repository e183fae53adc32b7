import test from 'ava'
import { paramOwner, type ParamSetting, paramUses, settingFor, settingProblem } from '#shared/core/rules/check/param-settings.ts'
import { HOUR } from '#shared/core/time.ts'
import { ahu, ruleOf, run, yamlOf } from '../../../../support/rules/helpers.ts'

const rule = ruleOf(yamlOf({ params: '{ limit: { default: 20, min: 10, max: 40, unit: degC } }', when: 'sa_t > limit' }))
const each = ruleOf(
  yamlOf({
    id: 'EACH',
    equipment: '[any]',
    roles: '{ x: any }',
    params:
      '{ leap: { default: 5, min: 1, max: 500, unit: any, perRole: { sa_t: 7, Pa: 80 } }, share: { default: 0.5, min: 0, max: 1, unit: fraction } }',
    when: 'delta(x, 10m) > leap and share < 1',
  }),
)
const set = (more: Partial<ParamSetting>): ParamSetting => {
  return { rule_id: 'R', param: 'limit', scope: 'site', scope_id: 'site-1', value: 30, unit: 'degC', ...more }
}
const site = set({ value: 31 })
const type = set({ scope: 'type', scope_id: 'ahu', value: 32 })
const own = set({ scope: 'equipment', scope_id: 'ahu-1', value: 33 })
const AHU = { equipment_id: 'ahu-1', equipment_type: 'ahu' } as const

for (const [what, settings, expected] of [
  ['nothing set', [], undefined],
  ['the site', [site], site],
  ['the type before the site', [site, type], type],
  ['the equipment before both, in any order', [own, site, type], own],
  ['not another type', [set({ scope: 'type', scope_id: 'vav' })], undefined],
  ['not another equipment', [set({ scope: 'equipment', scope_id: 'ahu-2' })], undefined],
  ['not another rule', [set({ rule_id: 'S' })], undefined],
  ['not another parameter', [set({ param: 'other' })], undefined],
  ['the next wider one when the narrower is out of bounds', [site, { ...own, value: 99 }], site],
  ['the next wider one when the narrower has a unit that the rule no longer has', [site, { ...own, unit: 'degF' }], site],
] as const) {
  test(`what counts: ${what}`, t => t.is(settingFor([...settings], paramOwner(rule), 'limit', AHU, undefined), expected))
}

test('of a rule over every role, one for the role counts before one for all, within the same scope', t => {
  const share = { rule_id: 'EACH', param: 'share', unit: 'fraction' } as const
  const all = set({ ...share, value: 0.1 })
  const one = set({ ...share, value: 0.2, role: 'sa_t' })
  const wide = set({ ...share, value: 0.3, scope: 'type', scope_id: 'ahu' })
  t.is(settingFor([all, one], paramOwner(each), 'share', AHU, 'sa_t'), one)
  t.is(settingFor([all, one], paramOwner(each), 'share', AHU, 'ra_t'), all)
  t.is(settingFor([one, wide], paramOwner(each), 'share', AHU, 'sa_t'), wide)
})

for (const [what, setting, problem] of [
  ['fits', {}, undefined],
  ['of a rule that is gone', { rule_id: 'GONE' }, 'there is no rule GONE'],
  ['of a parameter that is gone', { param: 'constructor' }, 'R has no parameter constructor'],
  ['out of bounds', { value: 41 }, 'limit takes 10 to 40 degC, not 41'],
  ['that is no number', { value: Number.NaN }, 'limit takes 10 to 40 degC, not NaN'],
  ['in another unit', { unit: 'degF' }, 'limit is in degC, not in degF'],
  ['for a role, of a rule that has none', { role: 'sa_t' }, 'R does not run over roles'],
  [
    'of any unit, without a role',
    { rule_id: 'EACH', param: 'leap' },
    'leap has another unit for every role, so a role must be named',
  ],
  ['of any unit, in the role’s', { rule_id: 'EACH', param: 'leap', role: 'sa_t' }, undefined],
  ['for a role that is none', { rule_id: 'EACH', param: 'leap', role: 'toString' }, 'there is no role toString'],
] as const) {
  test(`a setting ${what}`, t => {
    const made = set(setting)
    const known = [rule, each].find(({ id }) => id === made.rule_id)
    t.is(settingProblem(made, known && paramOwner(known)), problem)
  })
}

test('a run takes what is set, says where it comes from, and a request counts before it', t => {
  const source = (settings: ParamSetting[], params?: Record<string, Record<string, number>>) => {
    const { findings, failed } = run([rule], [ahu({ sa_t: '35x12' })], HOUR, { settings, ...(params && { params }) })
    t.deepEqual(failed, [])
    return findings[0]?.evidence.params.limit
  }
  t.deepEqual(source([]), { value: 20, unit: 'degC', source: 'default' })
  t.deepEqual(source([site]), { value: 31, unit: 'degC', source: 'site' })
  t.deepEqual(source([site, type]), { value: 32, unit: 'degC', source: 'type' })
  t.deepEqual(source([site, type, own]), { value: 33, unit: 'degC', source: 'equipment' })
  t.deepEqual(source([site, type, own], { R: { limit: 34 } }), { value: 34, unit: 'degC', source: 'request' })
  t.is(source([{ ...own, value: 36 }]), undefined, 'no fault below 36 °C')
  t.like(source([{ ...own, value: 99 }]), { source: 'default' }, 'one that cannot count does not stop the run')
})

test('a role keeps its own default until something is set for it', t => {
  const plant = [ahu({ sa_t: '10x6 40x6', ra_t: '10x6 40x6' })]
  const leap = { rule_id: 'EACH', param: 'leap', unit: 'degC', role: 'ra_t', value: 9 }
  const { findings } = run([each], plant, HOUR, { settings: [set(leap)] })
  t.deepEqual(Object.fromEntries(findings.map(({ role, evidence }) => [role, evidence.params.leap])), {
    ra_t: { value: 9, unit: 'degC', source: 'site' },
    sa_t: { value: 7, unit: 'degC', source: 'default' },
  })
})

test('the values in use are told by source, for the equipment that the rule is for', t => {
  const plant = ['ahu-1', 'ahu-2', 'ahu-3', 'ahu-4'].map(equipment_id => ({ equipment_id, equipment_type: 'ahu' as const }))
  const box = { equipment_id: 'vav-1', equipment_type: 'vav' as const }
  const settings = [own, set({ scope: 'equipment', scope_id: 'ahu-2', value: 33 }), { ...type, value: 99 }]
  t.deepEqual(paramUses(paramOwner(rule), 'limit', settings, [...plant, box]), [
    { value: 33, source: 'equipment', equipment_ids: ['ahu-1', 'ahu-2'] },
    { value: 20, source: 'default', equipment_ids: ['ahu-3', 'ahu-4'] },
  ])
})
