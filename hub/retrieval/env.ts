import { MCP_VARIABLES } from '#shared/central/mcp/env.ts'
import type { VariableTable } from '#shared/core/env.ts'

/** Settings of the retrieval service. */
export const RETRIEVAL_ENV = {
  SERVICE_RETRIEVAL_BIND: {
    kind: 'text',
    default: '127.0.0.1',
    doc: 'address to listen on; whoever reaches it may read, without a login',
  },
  SERVICE_RETRIEVAL_PORT: { kind: 'integer', default: 8091, min: 0, max: 65_535, doc: 'port to listen on; 0 takes a free one' },
  SERVICE_DOCS_INDEX: MCP_VARIABLES.SERVICE_DOCS_INDEX,
  SERVICE_MCP_ENABLE_ACTION_TOOLS: {
    kind: 'choice',
    choices: ['false', 'true', '0', '1'],
    default: 'false',
    doc: 'true offers the tools that change something; each asks central with the token of its caller and takes confirm: true',
  },
  SERVICE_API_BASE: {
    ...MCP_VARIABLES.SERVICE_API_BASE,
    doc: 'central as http://host:port, without a path; asked by action tools alone',
  },
  SERVICE_LOG_LEVEL: MCP_VARIABLES.SERVICE_LOG_LEVEL,
} as const satisfies VariableTable
