import type { VariableTable } from '#shared/core/env.ts'

/** Settings of a central that is one of several. */
export const CLUSTER_VARIABLES = {
  SERVICE_CLUSTER_URL: {
    kind: 'text',
    secret: true,
    pattern: /^postgres(ql)?:\/\//,
    doc: 'PostgreSQL, as postgres://user:password@host/database: of all central processes with the same database and the same site one is active, and another goes on when it ends',
  },
  SERVICE_CLUSTER_DIR: {
    kind: 'text',
    doc: "folder on this machine's own disk for the database while this process is the active one; not in the workspace, which all share",
  },
  SERVICE_CLUSTER_ADDRESS: {
    kind: 'text',
    pattern: /^https?:\/\//,
    doc: "address under which people open the pages of this site's hub, whichever machine it is on; the pages of the other hubs link to it",
  },
  SERVICE_CLUSTER_HOME: {
    kind: 'flag',
    default: false,
    doc: '1: this machine is the home of its site: a process that is active elsewhere gives way to this one',
  },
} as const satisfies VariableTable

type ClusterSettings = {
  SERVICE_CLUSTER_URL?: string | undefined
  SERVICE_CLUSTER_DIR?: string | undefined
  SERVICE_CLUSTER_ADDRESS?: string | undefined
  SERVICE_CLUSTER_HOME: boolean
  SERVICE_MULTI_TENANT: boolean
}

/** Complaints about settings of a cluster that contradict each other. */
export function complainOfCluster(settings: ClusterSettings): string[] {
  const { SERVICE_CLUSTER_URL: url, SERVICE_CLUSTER_DIR: folder } = settings
  if (url === undefined) {
    const names = ['SERVICE_CLUSTER_DIR', 'SERVICE_CLUSTER_ADDRESS', 'SERVICE_CLUSTER_HOME'] as const
    return names.filter(name => settings[name]).map(name => `${name}: is used only with SERVICE_CLUSTER_URL`)
  }
  return [
    ...(folder === undefined ? ['SERVICE_CLUSTER_DIR: SERVICE_CLUSTER_URL needs it'] : []),
    ...(settings.SERVICE_MULTI_TENANT
      ? ['SERVICE_CLUSTER_URL: not with SERVICE_MULTI_TENANT, whose databases are not in PostgreSQL']
      : []),
  ]
}
