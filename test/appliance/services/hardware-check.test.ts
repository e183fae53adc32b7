import test from 'ava'
import { hardwareCheck } from '#appliance/services/health-checks.ts'
import type { MachineHardware } from '#shared/node/machine-hardware.ts'

const disk = (used_percent: number | null, spare: MachineHardware['wear'][number]['spare'] = null) => ({
  disk: 'mmcblk0',
  used_percent,
  spare,
})

for (const [hardware, check] of [
  [
    { undervoltage: false, wear: [disk(20), disk(80)] },
    { status: 'ok', undervoltage: false, used_percent: 80 },
  ],
  [{ undervoltage: undefined, wear: [disk(null, 'normal')] }, { status: 'ok' }],
  [
    { undervoltage: true, wear: [] },
    { status: 'warn', detail: 'the supply voltage is too low: use a stronger power supply', undervoltage: true },
  ],
  [
    { undervoltage: undefined, wear: [disk(90)] },
    { status: 'warn', detail: 'mmcblk0 is worn out: replace it', used_percent: 90 },
  ],
  [
    { undervoltage: undefined, wear: [disk(10, 'urgent')] },
    { status: 'warn', detail: 'mmcblk0 is worn out: replace it', used_percent: 10 },
  ],
] as [MachineHardware, object][]) {
  test(`hardware ${JSON.stringify(hardware)} is judged`, t => t.deepEqual(hardwareCheck(hardware), check as never))
}
