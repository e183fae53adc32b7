import type { VariableTable } from '#shared/core/env.ts'

/** Settings of a central that is one of several. */
export const CLUSTER_VARIABLES = {
  SERVICE_CLUSTER_URL: {
    kind: 'text',
    secret: true,
    pattern: /^postgres(ql)?:\/\//,
    doc: 'PostgreSQL, as postgres://user:password@host/database: of all central processes with the same database one is active, and another goes on when it ends',
  },
  SERVICE_CLUSTER_DIR: {
    kind: 'text',
    doc: "folder on this machine's own disk for the database while this process is the active one; not in the workspace, which all share",
  },
} as const satisfies VariableTable

type ClusterSettings = {
  SERVICE_CLUSTER_URL?: string | undefined
  SERVICE_CLUSTER_DIR?: string | undefined
  SERVICE_MULTI_TENANT: boolean
}

/** Complaints about settings of a cluster that contradict each other. */
export function complainOfCluster(settings: ClusterSettings): string[] {
  const { SERVICE_CLUSTER_URL: url, SERVICE_CLUSTER_DIR: folder, SERVICE_MULTI_TENANT: hasTenants } = settings
  if (url === undefined) return folder === undefined ? [] : ['SERVICE_CLUSTER_DIR: is used only with SERVICE_CLUSTER_URL']
  return [
    ...(folder === undefined ? ['SERVICE_CLUSTER_DIR: SERVICE_CLUSTER_URL needs it'] : []),
    ...(hasTenants ? ['SERVICE_CLUSTER_URL: not with SERVICE_MULTI_TENANT, whose databases are not in PostgreSQL'] : []),
  ]
}
