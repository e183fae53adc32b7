import type { VariableTable } from '#shared/core/env.ts'
import { CENTRAL_VARIABLES } from '#shared/central/env.ts'

/** Where a box has its settings and what it is. */
export const PREPARE_ENV = {
  SERVICE_SYSTEM_DIR: {
    kind: 'text',
    default: '/var/lib/plenum-system',
    doc: 'folder of system.json and of the name of the box',
  },
  SERVICE_RUN_DIR: {
    kind: 'text',
    default: '/run/systemd',
    doc: 'folder in which systemd looks for its configuration until the next boot',
  },
  SERVICE_TLS_DIR: { ...CENTRAL_VARIABLES.SERVICE_TLS_DIR, default: '/var/lib/plenum/tls' },
  SERVICE_WORKSPACE: CENTRAL_VARIABLES.SERVICE_WORKSPACE,
} as const satisfies VariableTable
