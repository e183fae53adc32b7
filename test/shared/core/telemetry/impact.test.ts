/** Costs of findings on the wire: bounds of their texts. */
import test from 'ava'
import { readGap } from '#shared/core/telemetry/impact.ts'

const gap = (name: string) => ({ what: 'point', name, equipment_id: 'ahu-1' })

test('the name of a missing point has up to 256 characters', t => {
  t.deepEqual(readGap(gap('x'.repeat(256)), 'gap'), gap('x'.repeat(256)))
  t.throws(() => readGap(gap('x'.repeat(257)), 'gap'), { message: /gap\.name/ })
})
