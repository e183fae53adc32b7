/** retrieval: search of the product's own documents, rules and routes. It needs no central and no database. */
import { openAuthWithoutUsers } from '#shared/node/auth/no-users.ts'
import { openIndexFile, SHIPPED_INDEX } from '#shared/node/documents/index-file.ts'
import { openHttp } from '#shared/node/http/server.ts'
import { openLog } from '#shared/node/log.ts'
import { runProcess } from '#shared/node/service.ts'
import { settingsOrExit } from '#shared/node/settings.ts'
import { readVersion } from '#shared/node/version.ts'
import { actionTools } from './action-tools.ts'
import { RETRIEVAL_ENV } from './env.ts'
import { readTools } from './read-tools.ts'
import { retrievalRoutes } from './routes.ts'

const usage = 'retrieval: search of documents, rules and routes, for programs'
const { settings } = settingsOrExit(usage, RETRIEVAL_ENV, process.env, process.argv.slice(2))
const log = openLog('retrieval', settings.SERVICE_LOG_LEVEL)

await runProcess(log, async () => {
  const version = readVersion()
  const index = openIndexFile(settings.SERVICE_DOCS_INDEX ?? SHIPPED_INDEX, log)
  const actionsOn = ['true', '1'].includes(settings.SERVICE_MCP_ENABLE_ACTION_TOOLS)
  const tools = [...readTools(index), ...actionTools(actionsOn, settings.SERVICE_API_BASE.replace(/\/$/, ''))]
  const http = await openHttp({
    name: 'retrieval',
    version,
    host: settings.SERVICE_RETRIEVAL_BIND,
    port: settings.SERVICE_RETRIEVAL_PORT,
    routes: retrievalRoutes({ index, tools, version }),
    auth: openAuthWithoutUsers(log, Date.now),
    audit: undefined,
    log,
    trustedProxies: [],
  })
  return [http]
})
