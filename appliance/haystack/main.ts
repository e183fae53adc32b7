/** haystack: reads points of a Haystack server over HTTP(S) and sends readings to a broker, to central or to both. */
import { isLoopback } from '#shared/node/auth/auth-settings.ts'
import { wallClock } from '#shared/node/clock.ts'
import { openLog } from '#shared/node/log.ts'
import { runProcess } from '#shared/node/service.ts'
import { settingsOrExit } from '#shared/node/settings.ts'
import { accessOf, complainOfAccess } from '../drivers/haystack/access.ts'
import { haystackProtocol } from '../drivers/haystack/protocol.ts'
import { complainOfSplitEdge, HAYSTACK_ENV } from '../env.ts'
import { openEdgeConfig, readEdgeKits } from '../services/edge-config.ts'
import { checkInTerminal, haystackRoutes } from '../drivers/haystack/check-routes.ts'
import { openSplitEdge } from '../services/split-edge.ts'

const name = 'haystack'
const usage = `haystack: reads points of a Haystack server over HTTP(S) and sends readings to a broker, to central or to both

  --check  tests the connection, names the step that fails, and ends with 0 or 1`
const argv = process.argv.slice(2)
const { settings, effective } = settingsOrExit(usage, HAYSTACK_ENV, process.env, argv, {
  flags: ['--check'],
  complain: given => [...complainOfAccess(given), ...complainOfSplitEdge(given)],
})
const log = openLog(name, settings.SERVICE_LOG_LEVEL)

await runProcess(log, async () => {
  const access = accessOf(settings)
  const protocols = [haystackProtocol({ access, now: wallClock.now })]
  const { site, catalogue } = await openEdgeConfig({ workspace: settings.SERVICE_WORKSPACE, protocols, effective, log })
  if (argv.includes('--check')) {
    const { lines, exit } = await checkInTerminal(catalogue.current(), access)
    process.stdout.write(`${lines.join('\n')}\n`)
    process.exit(exit)
  }
  const { protocol, hostname, host } = access.endpoint
  if (protocol === 'http:' && !isLoopback(hostname)) {
    log.warn(`SERVICE_HAYSTACK_ENDPOINT is not https: the connection to ${host}, with the key, is not encrypted`)
  }
  const kits = await readEdgeKits(settings, site, log)
  const routes = haystackRoutes(catalogue, access, settings.SERVICE_LOCAL_INGEST_TOKEN)
  return openSplitEdge({ name, settings, site, catalogue, protocols, kits, routes, log })
})
