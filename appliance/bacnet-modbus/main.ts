/** bacnet-modbus: polls BACnet/IP and Modbus devices and hands readings to a broker, to central or to both. */
import { openLog } from '#shared/node/log.ts'
import { runUntilSignal } from '#shared/node/service.ts'
import { exitWith, settingsOrExit } from '#shared/node/settings.ts'
import { bindOf } from '../drivers/bacnet/bind.ts'
import { bacnetProtocol } from '../drivers/bacnet/protocol.ts'
import { modbusProtocol } from '../drivers/modbus/protocol.ts'
import { complainOfSplitEdge, FIELDBUS_ENV } from '../env.ts'
import { priorityFactory } from '../priority/priority-api.ts'
import { fieldbusServices } from '../services/fieldbus.ts'

const usage = 'bacnet-modbus: polls BACnet/IP and Modbus devices and hands readings to a broker, to central or to both'
const { settings, effective } = settingsOrExit(usage, FIELDBUS_ENV, process.env, process.argv.slice(2), {
  complain: complainOfSplitEdge,
})
const log = openLog('bacnet-modbus', settings.SERVICE_LOG_LEVEL)
const bind = bindOf(settings)
const bacnet = bacnetProtocol({ bind, now: Date.now, log })
const protocols = [bacnet, modbusProtocol({ now: Date.now })]
const priority = priorityFactory({ settings, bacnet, log })
const services = await fieldbusServices({ name: 'bacnet-modbus', settings, effective, protocols, priority, log }).catch(
  (error: Error) => exitWith([error.message]),
)
await runUntilSignal(services, log)
