/** haystack: reads points of a Haystack server over HTTP(S) and hands readings to a broker, to central or to both. */
import { openLog } from '#shared/node/log.ts'
import { runUntilSignal } from '#shared/node/service.ts'
import { exitWith, settingsOrExit } from '#shared/node/settings.ts'
import { isLoopback } from '#shared/node/auth/auth-settings.ts'
import { accessOf, complainOfAccess } from '../drivers/haystack/access.ts'
import { haystackProtocol } from '../drivers/haystack/protocol.ts'
import { complainOfSplitEdge, HAYSTACK_ENV } from '../env.ts'
import { openField } from '../services/field.ts'
import { fieldbusServices } from '../services/fieldbus.ts'
import { checkInTerminal, haystackRoutes } from '../services/haystack-check.ts'

const usage = `haystack: reads points of a Haystack server over HTTP(S) and hands readings to a broker, to central or to both

  --check  tests the connection, names the step that fails, and ends with 0 or 1`
const argv = process.argv.slice(2)
const { settings, effective } = settingsOrExit(usage, HAYSTACK_ENV, process.env, argv, {
  flags: ['--check'],
  complain: given => [...complainOfAccess(given), ...complainOfSplitEdge(given)],
})
const log = openLog('haystack', settings.SERVICE_LOG_LEVEL)
const access = accessOf(settings)
const protocols = [haystackProtocol({ access, now: Date.now })]
const refuse = (error: Error) => exitWith([error.message])

if (argv.includes('--check')) {
  const { catalogue } = await openField({ workspace: settings.SERVICE_WORKSPACE, protocols, effective, log }).catch(refuse)
  const { lines, exit } = await checkInTerminal(catalogue.current(), access)
  process.stdout.write(`${lines.join('\n')}\n`)
  process.exit(exit)
}

const { endpoint } = access
if (endpoint.protocol === 'http:' && !isLoopback(endpoint.hostname)) {
  log.warn(`SERVICE_HAYSTACK_ENDPOINT is not https: what ${endpoint.host} is told, the key too, can be read on the way`)
}
const routes = (catalogue: Parameters<typeof haystackRoutes>[0]) =>
  haystackRoutes(catalogue, access, settings.SERVICE_LOCAL_INGEST_TOKEN)
const services = await fieldbusServices({ name: 'haystack', settings, effective, protocols, routes, log }).catch(refuse)
await runUntilSignal(services, log)
