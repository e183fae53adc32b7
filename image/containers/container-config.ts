/** What an engine is told about the image of a component: user, program, health check, settings, labels. */
import { type ComponentName, COMPONENTS } from '../recipes/components.ts'
import { nodeFlags } from '../recipes/node-flags.ts'

/** User and group of every process in a container. */
export const CONTAINER_USER = '10001:10001'
export const NODE = '/usr/bin/node'
/** Where the files of the component are. */
export const PROGRAM = '/opt/plenum'
export const HEALTH_CHECK = 'image/containers/health-check.ts'

type ContainerConfig = {
  user: string
  workingDir: string
  entrypoint: string[]
  env: Record<string, string>
  port: number
  /** Program and arguments; there is no shell. */
  healthCheck: string[]
}

export function containerConfig(component: ComponentName): ContainerConfig {
  const { main, probe, port, inContainer, folders } = COMPONENTS[component]
  const target = 'path' in probe ? `http://127.0.0.1:${port}${probe.path}` : probe.heartbeat
  // A folder that is set only where the site names it has no value here.
  const { SERVICE_TLS_DIR: _tls, SERVICE_BACKUP_DIR: _backups, SERVICE_MQTT_CERT_DIR: _certs, ...named } = folders
  return {
    user: CONTAINER_USER,
    workingDir: PROGRAM,
    entrypoint: [NODE, ...nodeFlags(main), main],
    env: { NODE_ENV: 'production', ...named, ...inContainer },
    port,
    healthCheck: [NODE, HEALTH_CHECK, target],
  }
}

/** @param version `1.2.3+0123456789ab` */
export const labelsOf = (component: ComponentName, version: string): Record<string, string> => ({
  'org.opencontainers.image.title': `plenum-${component}`,
  'org.opencontainers.image.description': COMPONENTS[component].about,
  'org.opencontainers.image.version': version,
  'org.opencontainers.image.licenses': 'MIT',
})

/** Seconds between health checks, for an answer, until the first that counts, and checks that fail in a row. */
export const HEALTH = { interval: 30, timeout: 10, startPeriod: 90, retries: 3 } as const
