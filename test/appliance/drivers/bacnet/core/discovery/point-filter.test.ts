/** Words that say which points of a discovered device are wanted. */
import test from 'ava'
import { pointFilter } from '#appliance/drivers/bacnet/core/discovery/point-filter.ts'

const POINTS = [
  { point_id: 'AHU-1.SAT', address: 'analog-input,1', name: 'Supply Temp', unit: 'degC' },
  { point_id: 'AHU-1.SF', address: 'binary-output,12', name: 'Supply Fan', unit: undefined },
  { point_id: 'AHU-1.AI-12', address: 'analog-input,12', name: 'Spare', unit: 'percent' },
]
const CASES: [text: string, taken: string[]][] = [
  ['', ['SAT', 'SF', 'AI-12']],
  ['  ', ['SAT', 'SF', 'AI-12']],
  ['temp', ['SAT']],
  ['TEMP fan', ['SAT', 'SF']],
  ['supply -fan', ['SAT']],
  ['-spare', ['SAT', 'SF']],
  ['bo-12', ['SF']],
  ['ai-1', ['SAT', 'AI-12']],
  ['percent', ['AI-12']],
  ['-AHU-1.SAT', ['SF', 'AI-12']],
  ['-', ['SAT', 'SF', 'AI-12']],
  ['nothing', []],
]
for (const [text, taken] of CASES) {
  test(`“${text}” takes ${taken.join(', ') || 'none'}`, t => {
    const found = POINTS.filter(pointFilter(text)).map(({ point_id }) => point_id.slice('AHU-1.'.length))
    t.deepEqual(found, taken)
  })
}
