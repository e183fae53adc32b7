/** Units of systemd for a plain Debian server: the hub as one process, and each component of the recipes by itself. */
import { type ComponentName, COMPONENTS } from './components.ts'
import { nodeFlags } from './node-flags.ts'

type UnitSource = {
  about: string
  main: string
  /** Folders by the variable that names each, below the state of the unit. */
  folders: Readonly<{ [variable: string]: string }>
  /** A folder on storage that several machines mount, with its variable. */
  shared?: readonly [variable: string, path: string]
  families: string
  /** Units that start before. */
  after: readonly string[]
  memoryMax: string
}

const SOCKETS = 'AF_INET AF_INET6'
/** BACnet lists the networks of the machine to find their broadcast addresses. */
const FIELD_SOCKETS = `${SOCKETS} AF_NETLINK`
const ON_ONE_SERVER: readonly ComponentName[] = ['central', 'mqtt', 'fieldbus', 'bacnet-modbus', 'haystack', 'web']

const relative = (folders: Readonly<{ [variable: string]: string }>): { [variable: string]: string } =>
  Object.fromEntries(Object.entries(folders).map(([variable, path]) => [variable, path.slice(1)]))

/** One of several hubs, of the site that the instance is called: `plenum-central@north`. */
const CENTRAL_OF_SITE: UnitSource = {
  about: 'the hub of site %i on this machine, or a standby of it',
  main: COMPONENTS.central.main,
  folders: { SERVICE_CLUSTER_DIR: 'cluster', SERVICE_RULE_RESULTS_DIR: 'results', SERVICE_MQTT_CERT_DIR: 'mqtt' },
  shared: ['SERVICE_WORKSPACE', '/srv/plenum/%i'],
  families: SOCKETS,
  after: [],
  memoryMax: '4G',
}

const SOURCES = new Map<string, UnitSource>([
  [
    'hub',
    {
      about: 'broker, central and pages in one process',
      main: 'hub/main.ts',
      folders: { SERVICE_WORKSPACE: 'workspace', SERVICE_RULE_RESULTS_DIR: 'results', SERVICE_MQTT_CERT_DIR: 'mqtt' },
      families: SOCKETS,
      after: [],
      memoryMax: '4G',
    },
  ],
  ...ON_ONE_SERVER.map((component): [string, UnitSource] => {
    const { about, main, folders, hostNetwork } = COMPONENTS[component]
    const isConnector = 'SERVICE_EDGE_STORE_DIR' in folders
    // These two are used only where the site names them.
    const { SERVICE_TLS_DIR: _tls, SERVICE_BACKUP_DIR: _backups, ...needed } = relative(folders)
    const after = component === 'central' ? [] : component === 'web' ? ['central', 'mqtt'] : ['central']
    const memoryMax = component === 'central' ? '4G' : '512M'
    return [
      component,
      { about, main, folders: needed, families: isConnector && hostNetwork ? FIELD_SOCKETS : SOCKETS, after, memoryMax },
    ]
  }),
  ['central@', CENTRAL_OF_SITE],
])

/** Root, user and rights: as few as a process on a network can have. */
const HARDENING = `# Identity and privileges: none.
NoNewPrivileges=yes
AmbientCapabilities=
CapabilityBoundingSet=
PrivateUsers=yes
RestrictSUIDSGID=yes
LockPersonality=yes
RemoveIPC=yes
UMask=0077
KeyringMode=private

# Files: its own state is all that it can change, and nothing there can be run.
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateMounts=yes
PrivateDevices=yes
DevicePolicy=closed
ProtectProc=invisible
ProcSubset=pid
NoExecPaths=/
ExecPaths=/opt/plenum /usr/lib /usr/lib64

ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
RestrictRealtime=yes
RestrictNamespaces=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources @obsolete @mount @debug @cpu-emulation
SystemCallErrorNumber=EPERM`

const UNIT_FOLDER = 'image/recipes/systemd'

function unitText(name: string, { about, main, folders, shared, families, after, memoryMax }: UnitSource): string {
  // Of a template each instance has its own state and settings.
  const own = name.replace(/@$/, '-%i')
  const state = `/var/lib/plenum-${own}`
  const order = ['network-online.target', ...after.map(one => `plenum-${one}.service`)].join(' ')
  const environment = Object.entries(folders).map(([variable, folder]) => `Environment=${variable}=${state}/${folder}\n`)
  // Its pages may restart what has central.
  const supervised = 'SERVICE_RULE_RESULTS_DIR' in folders ? 'Environment=SERVICE_SUPERVISED=1\n' : ''
  return `# Written by scripts/recipes.ts; a server changes it with systemctl edit plenum-${name}.
[Unit]
Description=Plenum ${name}: ${about}
Wants=network-online.target
After=${order}
# A server that cannot start waits longer and longer, and never gives up.
StartLimitIntervalSec=0

[Service]
Type=exec
User=plenum
Group=plenum
WorkingDirectory=/opt/plenum
StateDirectory=plenum-${own}
StateDirectoryMode=0700
CacheDirectory=plenum-${own}
CacheDirectoryMode=0700
${environment.join('')}${shared ? sharedText(...shared) : ''}${supervised}Environment=NODE_COMPILE_CACHE=/var/cache/plenum-${own}
# NAME=value lines, owned by root with permissions 600.
EnvironmentFile=/etc/plenum/${own}.env
ExecStart=${['/opt/plenum/node_modules/.bin/node', ...nodeFlags(main), main].join(' ')}
Restart=always
RestartSec=2
RestartSteps=6
RestartMaxDelaySec=60
# A configuration that is wrong does not become right by starting again.
RestartPreventExitStatus=78
TimeoutStartSec=300
# The process stops within 10 s.
TimeoutStopSec=15
KillMode=mixed
# Lines beyond this are dropped and counted by the journal, which rotates what it holds.
LogRateLimitIntervalSec=30s
LogRateLimitBurst=2000

${HARDENING}

# It is on the network, because that is what it is for; memory may be written and run, because Node compiles.
RestrictAddressFamilies=${families}

MemoryMax=${memoryMax}
MemorySwapMax=0
TasksMax=256
LimitNOFILE=16384
LimitCORE=0

[Install]
WantedBy=multi-user.target
`
}

const sharedText = (variable: string, path: string): string => `# On storage that all machines of the cluster mount.
Environment=${variable}=${path}
ReadWritePaths=${path}
`

/** @returns the text of each unit by its path */
export const unitFiles = (): [path: string, text: string][] =>
  [...SOURCES].map(([name, source]) => [`${UNIT_FOLDER}/plenum-${name}.service`, unitText(name, source)])
