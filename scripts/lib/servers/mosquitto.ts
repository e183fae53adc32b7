/** Debian's mosquitto with our certificates and the configuration that the product writes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { mosquittoConf } from '#hub/broker/mosquitto.ts'
import { untilListening } from '../free-port.ts'

const MOSQUITTO = '/usr/sbin/mosquitto'
const START_MS = 10_000

/** @param certs folder of an authority. @throws Error when mosquitto is not installed, or does not listen in time */
export async function startMosquitto(certs: string, acl: string, port: number): Promise<ChildProcess> {
  if (!existsSync(MOSQUITTO)) throw new Error('mosquitto is not here: apt-get install mosquitto')
  const at = (name: string) => join(certs, name)
  writeFileSync(at('mosquitto.acl'), acl, { mode: 0o600 })
  writeFileSync(at('mosquitto.conf'), mosquittoConf(certs, { host: '127.0.0.1', port }, userInfo().username))
  chmodSync(certs, 0o755)
  const child = spawn(MOSQUITTO, ['-c', at('mosquitto.conf')], { stdio: 'ignore' })
  if (await untilListening(port, START_MS)) return child
  child.kill('SIGKILL')
  throw new Error('mosquitto does not listen')
}
