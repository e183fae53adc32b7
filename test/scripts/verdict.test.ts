import test from 'ava'
import type { Label } from '#scripts/lib/labelled.ts'
import { complaintOf, type DayReport, judge, NO_CREDIT, scoreOf } from '#scripts/lib/verdict.ts'

const label = (component: string): Label => ({ file: 'unit', date: '2026-03-02', component })
const active = (rule_id: string, kind: DayReport['active'][number]['kind'] = 'fault', fault_secs = 3600) => ({
  rule_id,
  kind,
  fault_secs,
})
const HEATING = [{ component: 'heating_valve', weight: 0.8 }]

const DAYS: { title: string; component: string; report: DayReport; alarm: boolean; right: boolean }[] = [
  {
    title: 'an equipment fault finds a faulty day',
    component: 'hcv',
    report: { active: [active('AHU-IDLE-COIL')], cause: HEATING },
    alarm: true,
    right: true,
  },
  {
    title: 'a fault that accuses another component is found and wrong',
    component: 'ccv',
    report: { active: [active('AHU-IDLE-COIL')], cause: HEATING },
    alarm: true,
    right: false,
  },
  {
    title: 'an alarm on a normal day is false',
    component: 'normal',
    report: { active: [active('AHU-IDLE-COIL')], cause: HEATING },
    alarm: true,
    right: false,
  },
  {
    title: 'energy, comfort and control count like faults',
    component: 'hcv',
    report: { active: [active('AHU-SIMULTANEOUS', 'energy')], cause: HEATING },
    alarm: true,
    right: true,
  },
  {
    title: 'data and overrides are no equipment faults',
    component: 'hcv',
    report: { active: [active('SEN-STALE', 'data'), active('OVR-LONG', 'override')], cause: HEATING },
    alarm: false,
    right: false,
  },
  {
    title: 'a fan at full speed, a high pressure and a run at night earn nothing',
    component: 'hcv',
    report: { active: NO_CREDIT.map(id => active(id)), cause: HEATING },
    alarm: false,
    right: false,
  },
  {
    title: 'a fault left over from the day before needs half an hour of today',
    component: 'hcv',
    report: { active: [active('AHU-IDLE-COIL', 'fault', 1799)], cause: HEATING },
    alarm: false,
    right: false,
  },
  {
    title: 'a component that the labels call by its own name is known by it',
    component: 'supply_fan',
    report: { active: [active('CMD-FAN-MISMATCH')], cause: [{ component: 'supply_fan', weight: 1 }] },
    alarm: true,
    right: true,
  },
]

for (const { title, component, report, alarm, right } of DAYS) {
  test(title, t => {
    const verdict = judge(label(component), report)
    t.is(verdict.alarm, alarm)
    t.is(verdict.right, right)
  })
}

test('a score counts faulty and normal days apart', t => {
  const verdicts = DAYS.map(({ component, report }) => judge(label(component), report))
  t.deepEqual(scoreOf(verdicts), { found: 4, faulty: 7, false: 1, normal: 1, right: 3 })
})

test('what went wrong is told in a line, what went right is not', t => {
  const lines = DAYS.slice(0, 3).map(({ component, report }) => complaintOf(judge(label(component), report)))
  t.deepEqual(lines, [
    undefined,
    'unit 2026-03-02 ccv: wrong, heating_valve accused (AHU-IDLE-COIL)',
    'unit 2026-03-02 normal: false (AHU-IDLE-COIL)',
  ])
  t.is(complaintOf(judge(label('oad'), { active: [], cause: [] })), 'unit 2026-03-02 oad: missed')
  const morning = { ...label('heat recovery wheel'), minutes: [65, 69] as [number, number] }
  t.is(complaintOf(judge(morning, { active: [], cause: [] })), 'unit 2026-03-02 01:05 heat recovery wheel: missed')
})
