/** bacnet-modbus: polls BACnet/IP and Modbus devices and sends readings to a broker, to central or to both. */
import { wallClock } from '#shared/node/clock.ts'
import { openLog } from '#shared/node/log.ts'
import { runProcess } from '#shared/node/service.ts'
import { settingsOrExit } from '#shared/node/settings.ts'
import { readVersion } from '#shared/node/version.ts'
import { readBind } from '../drivers/bacnet/transport.ts'
import { bacnetProtocol } from '../drivers/bacnet/protocol.ts'
import { modbusProtocol } from '../drivers/modbus/protocol.ts'
import { complainOfSplitEdge, FIELDBUS_ENV } from '../env.ts'
import { openPriority } from '../priority/priority-api.ts'
import { openEdgeConfig, readEdgeKits } from '../services/edge-config.ts'
import { openSplitEdge } from '../services/split-edge.ts'

const name = 'bacnet-modbus'
const usage = `${name}: polls BACnet/IP and Modbus devices and sends readings to a broker, to central or to both`
const { settings, effective } = settingsOrExit(usage, FIELDBUS_ENV, process.env, process.argv.slice(2), {
  complain: complainOfSplitEdge,
})
const log = openLog(name, settings.SERVICE_LOG_LEVEL)

await runProcess(log, async () => {
  const bacnet = bacnetProtocol({ bind: readBind(settings), now: wallClock.now, log })
  const protocols = [bacnet, modbusProtocol({ now: wallClock.now })]
  const { site, levels, catalogue } = await openEdgeConfig({ workspace: settings.SERVICE_WORKSPACE, protocols, effective, log })
  const kits = await readEdgeKits(settings, site, log)
  const { site_id, edge_id } = site
  const version = readVersion()
  const priority = await openPriority({
    settings,
    catalogue,
    levels,
    bacnet,
    site_id,
    edge_id,
    kit: kits?.current(),
    version,
    clock: wallClock,
    log,
  })
  return openSplitEdge({ name, settings, site, catalogue, protocols, kits, priority, log })
})
