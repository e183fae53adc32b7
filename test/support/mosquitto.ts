import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { connect as connectTcp } from 'node:net'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { PKI_FILES } from '#shared/node/pki/pki-files.ts'
import { until } from './folders.ts'

const MOSQUITTO = '/usr/sbin/mosquitto'

/** Debian's broker with our certificates and the ACLs that the topic rule prints. */
export async function startMosquitto(t: ExecutionContext, certs: string, acl: string, port: number): Promise<ChildProcess> {
  if (!existsSync(MOSQUITTO)) throw new Error('this test runs against mosquitto: apt-get install mosquitto')
  const at = (name: string) => join(certs, name)
  const lines = [
    `listener ${port} 127.0.0.1`,
    `cafile ${at(PKI_FILES.ca.cert)}`,
    `certfile ${at(PKI_FILES.broker.cert)}`,
    `keyfile ${at(PKI_FILES.broker.key)}`,
    `crlfile ${at(PKI_FILES.crl)}`,
    'require_certificate true',
    'use_identity_as_username true',
    'use_username_as_clientid true',
    `acl_file ${at('acl')}`,
    'persistence false',
    'user root',
  ]
  writeFileSync(at('acl'), acl, { mode: 0o600 })
  writeFileSync(at('mosquitto.conf'), `${lines.join('\n')}\n`)
  chmodSync(certs, 0o755)
  const child = spawn(MOSQUITTO, ['-c', at('mosquitto.conf')], { stdio: 'ignore' })
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  })
  await untilListening(port)
  return child
}

async function untilListening(port: number): Promise<void> {
  let listens = false
  await until(() => {
    const socket = connectTcp(port, '127.0.0.1')
    socket.on('connect', () => (listens = true)).on('error', () => undefined)
    socket.unref()
    setTimeout(() => socket.destroy(), 200).unref()
    return listens
  }, 'mosquitto listens')
}
