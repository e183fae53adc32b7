import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, globSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { rabbitmqService } from '#hub/broker/rabbitmq.ts'
import { freePort, untilListening } from '#scripts/lib/free-port.ts'
import { silent } from '../sites/transport-site.ts'

const SERVER = '/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server'
const PORT_MAPPER = '/usr/lib/erlang/erts-*/bin/epmd'
/** A node starts Erlang, its database and its plugins. */
const START_MS = 180_000
const COOKIE = 'plenum'

type Node = { port: number; stop(): Promise<void> }

/**
 * One node of Debian's RabbitMQ with our certificates and the files that the product writes.
 *
 * @param certs folder of an authority
 * @throws Error when RabbitMQ is not installed, or does not listen in time
 */
export async function startRabbitmq(certs: string): Promise<Node> {
  const names = await startNames()
  const { port, stop } = await startNode(certs, 'plenum@localhost', [], names.port).catch(error => {
    names.stop()
    throw error
  })
  return { port, stop: () => stop().then(names.stop) }
}

/**
 * Three nodes that form a cluster, each with a copy of the certificates.
 *
 * @throws Error as `startRabbitmq` does
 */
export async function startRabbitmqCluster(certs: string): Promise<{ nodes: Node[]; stop(): Promise<void> }> {
  const ids = ['plenum-1@localhost', 'plenum-2@localhost', 'plenum-3@localhost']
  const names = await startNames()
  const nodes: Node[] = []
  const stop = async () => {
    for (const node of nodes) await node.stop()
    names.stop()
  }
  try {
    for (const id of ids) {
      const own = `${certs}-${id}`
      cpSync(certs, own, { recursive: true })
      nodes.push(await startNode(own, id, ids, names.port))
    }
    return { nodes, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Erlang's port mapper. One that a node starts by itself stays when the node ends. */
async function startNames(): Promise<{ port: number; stop(): void }> {
  const [program] = globSync(PORT_MAPPER)
  const port = await freePort()
  const child = spawn(program!, ['-port', String(port), '-address', '127.0.0.1'], { stdio: 'ignore' })
  const stop = () => void child.kill('SIGKILL')
  if (await untilListening(port, START_MS)) return { port, stop }
  stop()
  throw new Error("Erlang's port mapper does not listen")
}

/** @param nodes names of all nodes of its cluster; empty for one on its own. @param epmd port of Erlang's port mapper */
async function startNode(certs: string, name: string, nodes: readonly string[], epmd: number): Promise<Node> {
  const [server] = globSync(SERVER)
  if (server === undefined) throw new Error('RabbitMQ is not here: apt-get install rabbitmq-server')
  const [port, dist] = [await freePort(), await freePort()]
  const service = rabbitmqService({ host: '127.0.0.1', port, dir: certs, authPort: 0, nodes, log: silent })
  await service.start()
  const at = (file: string) => join(certs, 'rabbitmq', file)
  mkdirSync(at('home'))
  const env = {
    PATH: process.env['PATH'],
    HOME: at('home'),
    RABBITMQ_NODENAME: name,
    RABBITMQ_CONFIG_FILE: at('rabbitmq.conf'),
    RABBITMQ_ADVANCED_CONFIG_FILE: at('advanced.config'),
    RABBITMQ_ENABLED_PLUGINS_FILE: at('enabled_plugins'),
    RABBITMQ_MNESIA_BASE: at('data'),
    RABBITMQ_LOG_BASE: at('log'),
    RABBITMQ_PID_FILE: at('pid'),
    RABBITMQ_DIST_PORT: String(dist),
    // Nothing of a test listens beyond the loopback address. The nodes of a cluster know each other by the cookie.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: `-kernel inet_dist_use_interface {127,0,0,1} -setcookie ${COOKIE}`,
    ERL_EPMD_PORT: String(epmd),
    ERL_EPMD_ADDRESS: '127.0.0.1',
  }
  // A group of its own, for the node starts others.
  const node = spawn(server, { env, stdio: 'ignore', detached: true })
  let isStopped = false
  const stop = async () => {
    if (isStopped) return
    isStopped = true
    const ended = once(node, 'exit')
    process.kill(-node.pid!, 'SIGKILL')
    await ended
    await service.stop()
  }
  if (await untilListening(port, START_MS)) return { port, stop }
  await stop()
  throw new Error(`RabbitMQ does not listen; its log is in ${at('log')}`)
}
