/** Debian's mosquitto with our certificates, its settings and its ACL made from the rule of topics. */
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { untilListening } from './free-port.ts'
import { PKI_FILES } from '#shared/node/pki/pki-files.ts'

const MOSQUITTO = '/usr/sbin/mosquitto'
const START_MS = 10_000

/** @param certs folder of an authority. @throws Error when mosquitto is not installed, or does not listen in time */
export async function startMosquitto(certs: string, acl: string, port: number): Promise<ChildProcess> {
  if (!existsSync(MOSQUITTO)) throw new Error('mosquitto is not here: apt-get install mosquitto')
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
  if (await untilListening(port, START_MS)) return child
  child.kill('SIGKILL')
  throw new Error('mosquitto does not listen')
}
