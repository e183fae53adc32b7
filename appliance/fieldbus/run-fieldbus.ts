/** The processes without central that read BACnet/IP, alone or beside another protocol. */
import { wallClock } from '#shared/node/clock.ts'
import { openLog } from '#shared/node/log.ts'
import { runProcess } from '#shared/node/service.ts'
import type { settingsOrExit } from '#shared/node/settings.ts'
import { readVersion } from '#shared/node/version.ts'
import { bacnetProtocol } from '../drivers/bacnet/protocol.ts'
import { readBind } from '../drivers/bacnet/transport.ts'
import type { FIELDBUS_ENV } from '../env.ts'
import { openPriority } from '../priority/priority-api.ts'
import type { EdgeOptions } from '../services/edge.ts'
import { openEdgeConfig, readEdgeKits } from '../services/edge-config.ts'
import { openSplitEdge } from '../services/split-edge.ts'

type Fieldbus = {
  /** Name of the process, as its image is called. */
  name: string
  /** Protocols beside BACnet/IP. */
  others: EdgeOptions['protocols']
} & ReturnType<typeof settingsOrExit<typeof FIELDBUS_ENV>>

/** Runs until a signal ends the process. */
export async function runFieldbus({ name, others, settings, effective }: Fieldbus): Promise<void> {
  const log = openLog(name, settings.SERVICE_LOG_LEVEL)

  await runProcess(log, async () => {
    const bacnet = bacnetProtocol({ bind: readBind(settings), now: wallClock.now, log })
    const protocols = [bacnet, ...others]
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
}
