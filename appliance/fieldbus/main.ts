/** fieldbus: polls BACnet/IP devices and sends readings to a broker, to central or to both. */
import { settingsOrExit } from '#shared/node/settings.ts'
import { complainOfSplitEdge, FIELDBUS_ENV } from '../env.ts'
import { runFieldbus } from './run-fieldbus.ts'

const name = 'fieldbus'
const usage = `${name}: polls BACnet/IP devices and sends readings to a broker, to central or to both`
const read = settingsOrExit(usage, FIELDBUS_ENV, process.env, process.argv.slice(2), { complain: complainOfSplitEdge })
await runFieldbus({ name, others: [], ...read })
