import test from 'ava'
import { type AlertCondition, type AlertState, stepAlert } from '#shared/core/alerts/alert.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'

const FAULT: AlertCondition = {
  key: 'finding/b1/ahu-1/AHU-SAT',
  kind: 'fault',
  building_id: 'b1',
  building_name: 'Library',
  timezone: 'Europe/Berlin',
  priority: 2,
  title: 'Supply air too warm (ahu-1)',
  detail: 'It was 4 °C above its set point.',
  since: 0,
  path: '/faults/f1',
}
const EDGE: AlertCondition = { ...FAULT, key: 'edge/site/box', kind: 'edge' }

/** @param truth whether the condition is true at each step. @returns the type of each event with its step */
function eventsOf(condition: AlertCondition, truth: boolean[], stepMs: number): string[] {
  let state: AlertState | undefined
  return truth.flatMap((isTrue, i) => {
    const stepped = stepAlert(state, isTrue ? condition : undefined, i * stepMs)
    state = stepped.state
    return stepped.event ? [`${stepped.event.type} ${i}`] : []
  })
}

test('a fault raises one alert and recovers when it was cleared for six hours', t => {
  t.deepEqual(eventsOf(FAULT, [false, true, true, false, false, false, false, false, false, false], HOUR), [
    'raised 1',
    'recovered 9',
  ])
})

test('a fault that comes and goes every hour is one alert', t => {
  const flapping = Array.from({ length: 100 }, (_, i) => i % 2 === 0)
  t.deepEqual(eventsOf(FAULT, flapping, HOUR), ['raised 0'])
})

test('an edge recovers when it has sent for ten minutes, and its next silence is a new alert', t => {
  const truth = [true, ...Array.from({ length: 11 }, () => false), true]
  t.deepEqual(eventsOf(EDGE, truth, MINUTE), ['raised 0', 'recovered 11', 'raised 12'])
  t.deepEqual(eventsOf(EDGE, [true, false, true, false, true], 5 * MINUTE), ['raised 0'])
})

test('an alert that becomes more urgent is raised again as such, once, and recovers as such', t => {
  let state: AlertState | undefined
  const raised = [3, 2, 3, 2, 1, 2, undefined, 2, undefined, undefined].map((priority, i) => {
    const condition = priority === undefined ? undefined : { ...EDGE, priority: priority as 1 | 2 | 3 }
    const stepped = stepAlert(state, condition, i * 10 * MINUTE)
    state = stepped.state
    return stepped.event && `${stepped.event.type} ${stepped.event.condition.priority}`
  })
  const none = undefined
  t.deepEqual(raised, ['raised 3', 'raised 2', none, none, 'raised 1', none, none, none, none, 'recovered 1'])
})
