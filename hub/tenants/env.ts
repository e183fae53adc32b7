import type { Settings, VariableTable } from '#shared/core/env.ts'

/** Settings of a hub with tenants. */
export const TENANT_VARIABLES = {
  SERVICE_MULTI_TENANT: {
    kind: 'flag',
    default: false,
    doc: '1: the hub serves several customers, each with a workspace, users and edges of its own',
  },
} as const satisfies VariableTable

type TenantSettings = Settings<typeof TENANT_VARIABLES> & { SERVICE_JWT_SECRET?: string | undefined }

/** Complaints about settings of tenants that contradict each other. */
export const complainOfTenants = ({ SERVICE_MULTI_TENANT: on, SERVICE_JWT_SECRET: secret }: TenantSettings): string[] =>
  on && secret === undefined ? ['SERVICE_MULTI_TENANT: needs SERVICE_JWT_SECRET, because tokens say who is of which tenant'] : []
