/** mcp: the tools of agents. It reads what central answers, and nothing else. */
import { complainOfMcp } from '#shared/central/mcp/env.ts'
import { openMcp } from '#shared/central/mcp/mcp-process.ts'
import { documentTools } from '#shared/central/mcp/tools/documents.ts'
import { READ_TOOLS } from '#shared/central/mcp/tools/list.ts'
import { whatChanged } from '#shared/central/mcp/tools/changes.ts'
import { openLog } from '#shared/node/log.ts'
import { runProcess } from '#shared/node/service.ts'
import { settingsOrExit } from '#shared/node/settings.ts'
import { HUB_MCP_ENV } from './env.ts'
import { fleetOverrides, listEdgesTool, edgeOverridesTool } from './fleet-tools.ts'
import { appendTool, preflightTool } from './import-tools.ts'

const usage = 'mcp: tools for agents, over the Model Context Protocol'
const { settings } = settingsOrExit(usage, HUB_MCP_ENV, process.env, process.argv.slice(2), { complain: complainOfMcp })
const log = openLog('mcp', settings.SERVICE_LOG_LEVEL)
const documents = documentTools(settings.SERVICE_DOCS_INDEX, log)
const reads = [...READ_TOOLS, ...documents, listEdgesTool, edgeOverridesTool, whatChanged(fleetOverrides)]
const tools = [...reads, preflightTool, ...(settings.SERVICE_MCP_ALLOW_WRITES ? [appendTool] : [])]

await runProcess(log, () => openMcp(settings, tools, log))
