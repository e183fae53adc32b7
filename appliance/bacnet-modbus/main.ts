/** bacnet-modbus: polls BACnet/IP and Modbus devices and sends readings to a broker, to central or to both. */
import { wallClock } from '#shared/node/clock.ts'
import { settingsOrExit } from '#shared/node/settings.ts'
import { modbusProtocol } from '../drivers/modbus/protocol.ts'
import { complainOfSplitEdge, FIELDBUS_ENV } from '../env.ts'
import { runFieldbus } from '../fieldbus/run-fieldbus.ts'

const name = 'bacnet-modbus'
const usage = `${name}: polls BACnet/IP and Modbus devices and sends readings to a broker, to central or to both`
const read = settingsOrExit(usage, FIELDBUS_ENV, process.env, process.argv.slice(2), { complain: complainOfSplitEdge })
await runFieldbus({ name, others: [modbusProtocol({ now: wallClock.now })], ...read })
