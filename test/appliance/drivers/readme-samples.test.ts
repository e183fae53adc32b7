/** What the documents show is taken as it stands there. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { bacnetProtocol } from '#appliance/drivers/bacnet/protocol.ts'
import { haystackProtocol } from '#appliance/drivers/haystack/protocol.ts'
import { modbusProtocol } from '#appliance/drivers/modbus/protocol.ts'
import { openCatalogue } from '#appliance/store/catalogue.ts'
import type { DeviceEntry } from '#appliance/store/catalogue-schema.ts'
import { openSiteSettings } from '#appliance/store/site.ts'
import { SILENT, site } from '../../support/sites/catalogue-site.ts'

const access = { endpoint: new URL('https://skyspark.example/api/demo/'), secret: 'key', ca: undefined }
const protocols = [
  bacnetProtocol({ bind: { address: '127.0.0.1', port: 0 }, now: Date.now, log: SILENT }),
  modbusProtocol({ now: Date.now }),
  haystackProtocol({ access, now: Date.now }),
]
const jsonOf = (readme: string): string[] => {
  const text = readFileSync(new URL(`../../../appliance/${readme}`, import.meta.url), 'utf8')
  return Array.from(text.matchAll(/```json\n([\s\S]*?)```/g), ([, json]) => json!)
}

/** Whole entries, and sections that stand for one in the entry before them. */
function entriesOf(readme: string): DeviceEntry[] {
  const entries: DeviceEntry[] = []
  for (const json of jsonOf(readme)) {
    const isWhole = json.startsWith('{')
    entries.push((isWhole ? JSON.parse(json) : { ...entries.at(-1), ...JSON.parse(`{${json}}`) }) as DeviceEntry)
  }
  return entries
}

for (const protocol of ['bacnet', 'modbus', 'haystack']) {
  test(`the sample entries of the ${protocol} driver are taken`, async t => {
    const dir = mkdtempSync(join(tmpdir(), 'plenum-readme-'))
    t.teardown(() => rmSync(dir, { recursive: true }))
    const entries = entriesOf(`drivers/${protocol}/README.md`)
    t.true(entries.length > 0)
    for (const entry of entries) {
      const named = entry.points.flatMap(({ equipment_id }) => equipment_id ?? [])
      const equipment = named.map(equipment_id => ({ equipment_id, name: equipment_id, equipment_type: 'ahu' as const }))
      writeFileSync(join(dir, 'field-devices.json'), JSON.stringify({ devices: [entry] }))
      await t.notThrowsAsync(openCatalogue(dir, { ...site, equipment }, protocols))
    }
  })
}

test('the sample of a site is taken', async t => {
  const dir = mkdtempSync(join(tmpdir(), 'plenum-readme-'))
  t.teardown(() => rmSync(dir, { recursive: true }))
  writeFileSync(join(dir, 'site.json'), jsonOf('store/README.md')[0]!)
  await t.notThrowsAsync(openSiteSettings(dir))
})
