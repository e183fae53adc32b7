import type { VariableTable } from '#shared/core/env.ts'
import { APPLIANCE_ENV } from '../env.ts'
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
  SERVICE_STICK_DIR: { kind: 'text', default: '/run/plenum-stick', doc: 'folder at which a USB stick is mounted' },
  SERVICE_SETTINGS_FILE: {
    kind: 'text',
    default: '/var/lib/plenum/settings.env',
    doc: 'NAME=value lines with which the appliance starts',
  },
  SERVICE_EDGE_KIT_DIR: { ...APPLIANCE_ENV.SERVICE_EDGE_KIT_DIR, default: '/var/lib/plenum/kit' },
  SERVICE_UPDATE_DIR: { ...APPLIANCE_ENV.SERVICE_UPDATE_DIR, default: '/var/lib/plenum/updates' },
  SERVICE_NETWORK_DIR: { ...APPLIANCE_ENV.SERVICE_NETWORK_DIR, default: '/var/lib/plenum/network' },
  SERVICE_WORKSPACE: { ...CENTRAL_VARIABLES.SERVICE_WORKSPACE, default: '/var/lib/plenum/workspace' },
} as const satisfies VariableTable
