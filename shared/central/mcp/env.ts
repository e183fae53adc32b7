import type { Settings, VariableTable } from '#shared/core/env.ts'
import { isLoopback } from '#shared/node/auth/auth-settings.ts'

/** Settings of the agent tool server, on the hub and on the appliance. */
export const MCP_VARIABLES = {
  SERVICE_API_BASE: {
    kind: 'text',
    default: 'http://127.0.0.1:8080',
    pattern: /^https?:\/\/[^\s/?#@]+\/?$/,
    doc: 'central as http://host:port, without a path',
  },
  SERVICE_MCP_TOKEN: {
    kind: 'text',
    secret: true,
    doc: 'token that central is asked with: of the login agent, or of POST /api/auth/agent-token',
  },
  SERVICE_MCP_TRANSPORT: {
    kind: 'choice',
    choices: ['stdio', 'http'],
    default: 'stdio',
    doc: 'how a client speaks to the server',
  },
  SERVICE_MCP_BIND: { kind: 'text', default: '127.0.0.1', doc: 'address to listen on, with the transport http' },
  SERVICE_MCP_PORT: {
    kind: 'integer',
    default: 8092,
    min: 0,
    max: 65_535,
    doc: 'port to listen on, with the transport http; 0 takes a free one',
  },
  SERVICE_MCP_HOSTS: {
    kind: 'text',
    default: '',
    pattern: /^[A-Za-z0-9.,: [\]-]*$/,
    doc: 'host names, by comma, under which callers reach it; loopback always counts',
  },
  SERVICE_DOCS_INDEX: {
    kind: 'text',
    doc: 'index of documents that scripts/index-documents makes; by default documents.db beside the program',
  },
  SERVICE_LOG_LEVEL: { kind: 'choice', choices: ['debug', 'info', 'warn', 'error'], default: 'info', doc: 'how much is logged' },
} as const satisfies VariableTable

export type McpSettings = Settings<typeof MCP_VARIABLES>

/** @returns a complaint where callers from other machines would be asked for a name that nobody set */
export function complainOfMcp(settings: McpSettings): string[] {
  const { SERVICE_MCP_TRANSPORT: transport, SERVICE_MCP_BIND: bind, SERVICE_MCP_HOSTS: hosts } = settings
  if (transport === 'stdio' || isLoopback(bind) || hostsOf(hosts).length > 0) return []
  return [`SERVICE_MCP_HOSTS: on ${bind} it takes the names under which callers reach the server`]
}

/** The list that SERVICE_MCP_HOSTS holds. */
export const hostsOf = (text: string): string[] =>
  text
    .split(',')
    .map(one => one.trim())
    .filter(Boolean)
