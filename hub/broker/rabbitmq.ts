/** Puts RabbitMQ in place of the embedded broker: its files, and the service that it asks who may do what. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { makeFolder, replaceFile } from '#shared/node/files.ts'
import { writeCrlFolder } from '#shared/node/pki/crl-folder.ts'
import { PKI_FILES } from '#shared/node/pki/pki-files.ts'
import type { Service } from '#shared/node/service.ts'
import { PACKET_MAX } from './limits.ts'
import { rabbitmqAuthorizer } from './rabbitmq-authorizer.ts'

type Listener = { host: string; port: number }
type RabbitmqOptions = Listener & {
  /** Folder of the certificates, as RabbitMQ sees it too. */
  dir: string
  /** Port on the loopback address at which RabbitMQ asks for permissions. */
  authPort: number
  /** Names of all nodes, such as `rabbit@hub-1`; empty for a node on its own. */
  nodes: readonly string[]
  log: Logger
}

/** Below the folder of the certificates. */
const FOLDER = 'rabbitmq'
const LOOPBACK = '127.0.0.1'
/** How long RabbitMQ remembers an answer, ms. A name that is no identity stays none, so that only a new rule is late. */
const REMEMBER_MS = 60_000
const LOOK_MS = 500
const PLUGINS = ['rabbitmq_mqtt', 'rabbitmq_auth_mechanism_ssl', 'rabbitmq_auth_backend_http', 'rabbitmq_auth_backend_cache']

/** `rabbitmq.conf`: MQTT over TLS and nothing else, identities from certificates, permissions from the authorizer. */
function rabbitmqConf({ host, port, authPort, nodes, dir }: Omit<RabbitmqOptions, 'log'>): string {
  const ask = (path: string) => `auth_http.${path}_path = http://${LOOPBACK}:${authPort}/${path}`
  const lines = [
    'listeners.tcp = none',
    'mqtt.listeners.tcp = none',
    `mqtt.listeners.ssl.1 = ${host}:${port}`,
    'mqtt.allow_anonymous = false',
    'mqtt.ssl_cert_login = true',
    'ssl_cert_login_from = common_name',
    'mqtt.vhost = /',
    'mqtt.exchange = amq.topic',
    `max_message_size = ${PACKET_MAX}`,
    'auth_backends.1 = cache',
    'auth_cache.cached_backend = http',
    `auth_cache.cache_ttl = ${REMEMBER_MS}`,
    'auth_http.http_method = post',
    ...['user', 'vhost', 'resource', 'topic'].map(ask),
    `load_definitions = ${join(dir, FOLDER, 'definitions.json')}`,
    ...(nodes.length > 0 ? ['cluster_formation.peer_discovery_backend = classic_config'] : []),
    ...nodes.map((node, i) => `cluster_formation.classic_config.nodes.${i + 1} = ${node}`),
  ]
  return `${lines.join('\n')}\n`
}

/**
 * `definitions.json`: where a queue is. Sessions are clean, and RabbitMQ gives such a session a queue on the node that it is connected to:
 * when that node is lost, nobody of the same name could subscribe elsewhere. So a queue is on all nodes, as long as its session.
 */
const DEFINITIONS = JSON.stringify({
  vhosts: [{ name: '/' }],
  policies: [
    {
      ...{ vhost: '/', name: 'sessions', pattern: '^mqtt-subscription-', 'apply-to': 'queues', priority: 0 },
      definition: { 'ha-mode': 'all', 'ha-sync-mode': 'automatic' },
    },
  ],
})

/** `advanced.config`: what the other file has no words for: names with colons, and revoked certificates. */
function rabbitmqAdvancedConfig(dir: string): string {
  const file = (name: string) => JSON.stringify(join(dir, name))
  return `[{rabbitmq_mqtt, [{ignore_colons_in_username, true}]},
 {rabbit, [{ssl_options, [
   {cacertfile, ${file(PKI_FILES.ca.cert)}},
   {certfile, ${file(PKI_FILES.broker.cert)}},
   {keyfile, ${file(PKI_FILES.broker.key)}},
   {versions, ['tlsv1.3', 'tlsv1.2']},
   {verify, verify_peer},
   {fail_if_no_peer_cert, true},
   {crl_check, peer},
   {crl_cache, {ssl_crl_hash_dir, {internal, [{dir, ${file(join(FOLDER, 'crl'))}}]}}}]}]}].
`
}

/**
 * Writes RabbitMQ's files into the folder `rabbitmq` beside the certificates.
 *
 * @returns their paths
 * @throws Error when the folder has no list of revoked certificates
 */
async function writeRabbitmqFiles(options: RabbitmqOptions): Promise<string[]> {
  const folder = join(options.dir, FOLDER)
  await makeFolder(folder)
  const files = {
    'rabbitmq.conf': rabbitmqConf(options),
    'advanced.config': rabbitmqAdvancedConfig(options.dir),
    'definitions.json': DEFINITIONS,
    enabled_plugins: `[${PLUGINS.join(',')}].\n`,
  }
  const paths = Object.keys(files).map(name => join(folder, name))
  for (const [name, content] of Object.entries(files)) await replaceFile(join(folder, name), content)
  return [...paths, ...(await writeRevoked(options.dir))]
}

async function writeRevoked(dir: string): Promise<string[]> {
  return writeCrlFolder(await readFile(join(dir, PKI_FILES.crl), 'utf8'), join(dir, FOLDER, 'crl'))
}

/** Writes the files, answers RabbitMQ's questions, and hands it each new list of revoked certificates. */
export function rabbitmqService(options: RabbitmqOptions): Service & { port(): number } {
  const { dir, authPort, log } = options
  const authorizer = rabbitmqAuthorizer({ host: LOOPBACK, port: authPort, log })
  const crlPath = join(dir, PKI_FILES.crl)
  let seen = 0
  let looking: NodeJS.Timeout | undefined
  const look = async () => {
    const { mtimeMs } = await stat(crlPath)
    if (mtimeMs === seen) return
    if (seen > 0) log.info({ paths: await writeRevoked(dir) }, 'revoked certificates changed: handed to RabbitMQ')
    seen = mtimeMs
  }
  const warn = (error: Error) => log.warn(`the list of revoked certificates is kept as it was: ${error.message}`)
  return {
    name: 'rabbitmq',
    port: authorizer.port,
    async start() {
      await authorizer.start()
      await look()
      const paths = await writeRabbitmqFiles({ ...options, authPort: authorizer.port() })
      log.info({ paths }, 'files of RabbitMQ are written')
      looking = setInterval(() => void look().catch(warn), LOOK_MS)
    },
    async stop() {
      clearInterval(looking)
      await authorizer.stop()
    },
  }
}
