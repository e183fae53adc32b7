import test from 'ava'
import type { HealthCheck } from '#shared/central/context.ts'
import { systemBody } from '#shared/central/pages/system/system.view.ts'
import type { DiskWear, MachineHardware } from '#shared/node/machine-hardware.ts'
import { NOW } from '../../../../support/page-fixture.ts'

const page = (hardware: MachineHardware, checks: Record<string, HealthCheck> = {}): string =>
  String(
    systemBody({
      ...{
        version: '1',
        startedAt: NOW,
        checks,
        hardware,
        addresses: [],
        restarts: false,
        isAdmin: false,
        more: false,
        csrf: '',
      },
      ...{ clockSynced: true, memory: { used: 1, total: 2 }, temperature: undefined, certificate: undefined },
      ...{
        disk: { free_bytes: 5e9, total_bytes: 9e9 },
        storage: [],
        history: { bytes: 0, max_bytes: 1, whole_from: null, thinned_from: null },
      },
      here: { now: NOW, timezone: 'UTC' },
    }),
  )

test('a machine that tells neither wear nor supply voltage has no line for them', t => {
  t.notRegex(page({ undervoltage: undefined, wear: [] }), /Supply voltage|Wear of/)
})

test('a supply voltage is shown where it is measured', t => {
  t.regex(page({ undervoltage: false, wear: [] }), /Supply voltage<\/dt><dd>high enough/)
  t.regex(page({ undervoltage: true, wear: [] }), /Supply voltage<\/dt><dd><strong>too low<\/strong>/)
})

for (const [wear, words] of [
  [{ used_percent: 20, spare: 'normal' }, 'at most 20 % of its life is used</dd>'],
  [{ used_percent: 90, spare: null }, '<strong>at most 90 % of its life is used</strong></dd>'],
  [{ used_percent: 110, spare: 'urgent' }, '<strong>more than its expected life is used</strong><br><strong>nearly all'],
  [{ used_percent: null, spare: 'warning' }, 'life not told<br><strong>most of its spare blocks'],
] as const satisfies [Omit<DiskWear, 'disk'>, string][]) {
  test(`wear ${JSON.stringify(wear)} is said`, t => {
    const text = page({ undervoltage: undefined, wear: [{ disk: 'mmcblk0', ...wear }] })
    t.true(text.includes(`Wear of <code>mmcblk0</code></dt><dd>${words}`), text)
  })
}
