/** The agent tool server as a process: tools over one of the two transports. */
import { serveStdio, type StdioServerHandle } from '@modelcontextprotocol/server/stdio'
import type { Logger } from 'pino'
import { readVersion } from '#shared/node/version.ts'
import type { Service } from '#shared/node/service.ts'
import { openCentralClient } from './central-client.ts'
import { hostsOf, type McpSettings } from './env.ts'
import { openMcpHttp } from './http-transport.ts'
import { createMcpServer } from './mcp-server.ts'
import type { Tool } from './tool.ts'

/** @param tools those that this product offers. @returns the services of the process */
export async function openMcp(settings: McpSettings, tools: readonly Tool[], log: Logger): Promise<Service[]> {
  const version = readVersion()
  const base = settings.SERVICE_API_BASE.replace(/\/$/, '')
  const token = settings.SERVICE_MCP_TOKEN
  const serverFor = (own: string | undefined) => createMcpServer(tools, openCentralClient(base, own), { version, log })
  if (settings.SERVICE_MCP_TRANSPORT === 'stdio') return [stdioService(() => serverFor(token), log)]
  const { SERVICE_MCP_BIND: host, SERVICE_MCP_PORT: port, SERVICE_MCP_HOSTS: hosts } = settings
  return [await openMcpHttp({ host, port, hosts: hostsOf(hosts), token, serverFor, version, log })]
}

/** Serves the program that started this process; ends with it. */
function stdioService(create: () => ReturnType<typeof createMcpServer>, log: Logger): Service {
  let connection: StdioServerHandle | undefined
  return {
    name: 'mcp stdio',
    async start() {
      process.stdin.once('end', () => process.kill(process.pid, 'SIGTERM'))
      connection = serveStdio(create, { onerror: error => log.warn({ err: error }, 'message refused') })
    },
    stop: async () => connection?.close(),
  }
}
