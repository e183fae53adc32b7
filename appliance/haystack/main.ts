/** haystack: reads points of a Haystack server over HTTP(S) and sends readings to a broker, to central or to both. */
import { isLoopback } from '#shared/node/auth/auth-settings.ts'
import { wallClock } from '#shared/node/clock.ts'
import { openLog } from '#shared/node/log.ts'
import { runProcess } from '#shared/node/service.ts'
import { settingsOrExit } from '#shared/node/settings.ts'
import { accessOf, complainOfAccess } from '../drivers/haystack/access.ts'
import { pointsInTerminal } from '../drivers/haystack/add-points.ts'
import { haystackProtocol } from '../drivers/haystack/protocol.ts'
import { complainOfSplitEdge, HAYSTACK_ENV } from '../env.ts'
import { openEdgeConfig, readEdgeKits } from '../services/edge-config.ts'
import { checkInTerminal, haystackRoutes } from '../drivers/haystack/check-routes.ts'
import { openSplitEdge } from '../services/split-edge.ts'

const name = 'haystack'
const usage = `haystack: reads points of a Haystack server over HTTP(S) and sends readings to a broker, to central or to both

  --check            tests the connection, names the step that fails, and ends with 0 or 1
  --list-points      reads which points the server has, says what --add-points would add, and ends with 0 or 1
  --add-points       adds them to config/field-devices.json, and their equipment to config/site.json
  --filter=FILTER    for these two: of which points, for example 'point and equipRef->ahu'; all without it`
const argv = process.argv.slice(2)
const FILTER = '--filter='
const { settings, effective } = settingsOrExit(usage, HAYSTACK_ENV, process.env, argv, {
  flags: ['--check', '--list-points', '--add-points', ...argv.filter(word => word.startsWith(FILTER))],
  complain: given => [...complainOfAccess(given), ...complainOfSplitEdge(given)],
})
const log = openLog(name, settings.SERVICE_LOG_LEVEL)

await runProcess(log, async () => {
  const access = accessOf(settings)
  const protocols = [haystackProtocol({ access, now: wallClock.now })]
  const open = () => openEdgeConfig({ workspace: settings.SERVICE_WORKSPACE, protocols, effective, log })
  const { site, siteFile, catalogue } = await open()
  const end = ({ lines, exit }: { lines: string[]; exit: number }) => {
    process.stdout.write(`${lines.join('\n')}\n`)
    process.exit(exit)
  }
  if (argv.includes('--check')) end(await checkInTerminal(catalogue.current(), access))
  if (argv.includes('--list-points') || argv.includes('--add-points')) {
    const reopen = argv.includes('--add-points') ? async () => (await open()).catalogue : undefined
    const filter = argv.find(word => word.startsWith(FILTER))?.slice(FILTER.length)
    end(await pointsInTerminal({ siteFile, catalogue }, access, { filter, reopen }))
  }
  const { protocol, hostname, host } = access.endpoint
  if (protocol === 'http:' && !isLoopback(hostname)) {
    log.warn(`SERVICE_HAYSTACK_ENDPOINT is not https: the connection to ${host}, with the key, is not encrypted`)
  }
  const kits = await readEdgeKits(settings, site, log)
  const routes = haystackRoutes(catalogue, access, settings.SERVICE_LOCAL_INGEST_TOKEN)
  return openSplitEdge({ name, settings, site, catalogue, protocols, kits, routes, log })
})
