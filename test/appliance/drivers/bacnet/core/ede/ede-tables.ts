/** EDE tables for tests: a heading as tools write it, and functions that read rows under it. */
import { type Ede, type EdeFiles, readEde as readingEde } from '#appliance/drivers/bacnet/core/ede/read-ede.ts'
import type { PointTable } from '#appliance/core/catalogue/table.ts'
import { edeFormat } from '#appliance/drivers/bacnet/core/ede/ede-format.ts'
import { planPointSet } from '#appliance/store/catalogue-import.ts'
import type { DeviceAddress } from '#appliance/drivers/bacnet/core/discovery/discovery.ts'
import type { DeviceCatalogue } from '#appliance/store/catalogue-schema.ts'
import { tableOfText } from '../../../../../support/packages/table-of-text.ts'

export const TITLES =
  '# keyname;device obj.-instance;object-name;object-type;object-instance;description;present-value-default;min-present-value;max-present-value;settable;supports COV;hi-limit;low-limit;state-text-reference;unit-code;vendor-specific-address;notification-class'
export const HEAD = `# Proposal_Engineering-Data-Exchange - B.I.G.-EU
PROJECT_NAME;School
VERSION_OF_REFERENCEFILE;1
TIMESTAMP_OF_LAST_CHANGE;19. Dec 2005
AUTHOR_OF_LAST_CHANGE;G. Sampler
VERSION_OF_LAYOUT;2.3
#mandatory;mandator;mandatory;mandatory;mandatory;optional
`
export const TEXTS = `#State Text Reference
#Reference Number;Text 1 or Inactive-Text;Text 2 or Active-Text;Text 3
1;Off;On
2;Stop;Slow;Fast;;
`
/** Runs a generator to its end. */
function whole<T>(work: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}
export const readEde = (files: EdeFiles): Ede => whole(readingEde(files))
type Settings = { addresses: ReadonlyMap<number, DeviceAddress>; poll_secs: number }
export const planEde = (catalogue: DeviceCatalogue, ede: Ede, settings: Settings) =>
  whole(planPointSet(catalogue, edeFormat, ede, settings))
export const table = (text: string, file = 'school_EDE.csv'): PointTable => tableOfText(file, text, ';')
export const read = (rows: string, texts?: string): Ede =>
  readEde({ main: table(`${HEAD}${TITLES}\n${rows}`), ...(texts && { stateTexts: table(texts, 'school_StateTexts.csv') }) })
export const none = { addresses: new Map(), poll_secs: 60 }
export const EMPTY: DeviceCatalogue = { devices: [] }
