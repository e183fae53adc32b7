/** mcp of an appliance: the tools of agents, all of which only read. */
import { complainOfMcp, MCP_VARIABLES } from '#shared/central/mcp/env.ts'
import { openMcp } from '#shared/central/mcp/mcp-process.ts'
import { documentTools } from '#shared/central/mcp/tools/documents.ts'
import { READ_TOOLS } from '#shared/central/mcp/tools/list.ts'
import { whatChanged } from '#shared/central/mcp/tools/changes.ts'
import { openLog } from '#shared/node/log.ts'
import { runProcess } from '#shared/node/service.ts'
import { settingsOrExit } from '#shared/node/settings.ts'
import { equipmentOverridesTool, ownOverrides } from './override-tools.ts'

const usage = 'mcp: tools for agents, over the Model Context Protocol; they read and change nothing'
const { settings } = settingsOrExit(usage, MCP_VARIABLES, process.env, process.argv.slice(2), { complain: complainOfMcp })
const log = openLog('mcp', settings.SERVICE_LOG_LEVEL)
const documents = documentTools(settings.SERVICE_DOCS_INDEX, log)
const tools = [...READ_TOOLS, ...documents, equipmentOverridesTool, whatChanged(ownOverrides)]

await runProcess(log, () => openMcp(settings, tools, log))
