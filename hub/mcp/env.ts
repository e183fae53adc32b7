import { MCP_VARIABLES } from '#shared/central/mcp/env.ts'
import type { VariableTable } from '#shared/core/env.ts'

/** Settings of the agent tool server of a hub. */
export const HUB_MCP_ENV = {
  ...MCP_VARIABLES,
  SERVICE_MCP_ALLOW_WRITES: {
    kind: 'flag',
    default: false,
    doc: '1 offers the tools that change something; each still takes confirm: true',
  },
} as const satisfies VariableTable
