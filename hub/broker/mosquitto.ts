/** Prints the configuration of mosquitto in place of the embedded broker: the same certificates, topics and bounds. */
import { readFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { replaceFile } from '#shared/node/files.ts'
import { MOSQUITTO_LIST, mosquittoAcl } from '#shared/node/pki/mosquitto-list.ts'
import { type IssuedRecord, PKI_FILES } from '#shared/node/pki/pki-files.ts'
import { SUITES_1_2 } from '#shared/node/pki/tls-minimum.ts'
import { CONNECTIONS_MAX, KEEPALIVE_MAX_SECS, PACKET_MAX, UNDER_WAY_MAX } from './limits.ts'

type Listener = { host: string; port: number }

const CONF = 'mosquitto.conf'

/** Messages that an edge publishes before the first is acknowledged; mosquitto holds back what is beyond. */
const INFLIGHT_MAX = 50
/** Messages that wait for one subscriber: those of twenty edges that send at their fastest. */
const QUEUED_MAX = 1_000

/**
 * @param dir folder of the certificates, as mosquitto sees it
 * @param user account that mosquitto runs as when root starts it
 */
export function mosquittoConf(dir: string, { host, port }: Listener, user: string): string {
  const at = (name: string) => join(dir, name)
  const lines = [
    // Key, list of topics and folder are of their owner alone; the account that mosquitto takes by itself could not open them.
    `user ${user}`,
    `listener ${port} ${host}`,
    `cafile ${at(PKI_FILES.ca.cert)}`,
    `certfile ${at(PKI_FILES.broker.cert)}`,
    `keyfile ${at(PKI_FILES.broker.key)}`,
    `crlfile ${at(PKI_FILES.crl)}`,
    'tls_version tlsv1.2',
    `ciphers ${SUITES_1_2}`,
    'require_certificate true',
    'use_identity_as_username true',
    // Without it any valid certificate could take over the session of another client.
    'use_username_as_clientid true',
    `acl_file ${at(MOSQUITTO_LIST)}`,
    'max_qos 1',
    `max_connections ${CONNECTIONS_MAX}`,
    `max_packet_size ${PACKET_MAX}`,
    `max_inflight_messages ${INFLIGHT_MAX}`,
    `max_queued_messages ${QUEUED_MAX}`,
    `max_queued_bytes ${UNDER_WAY_MAX}`,
    `max_keepalive ${KEEPALIVE_MAX_SECS}`,
    'persistent_client_expiration 1h',
    'persistence false',
  ]
  return `${lines.join('\n')}\n`
}

/**
 * Writes `mosquitto.conf` and `mosquitto.acl` into the folder of the authority, for mosquitto under the account of this process.
 *
 * @returns the paths of both
 * @throws Error when the folder has no list of issued certificates
 */
export async function writeMosquittoFiles(dir: string, listener: Listener, now: number): Promise<string[]> {
  const list = await readFile(join(dir, PKI_FILES.issued), 'utf8')
  const [conf, acl] = [join(dir, CONF), join(dir, MOSQUITTO_LIST)]
  await replaceFile(acl, mosquittoAcl(JSON.parse(list) as IssuedRecord[], now))
  await replaceFile(conf, mosquittoConf(dir, listener, userInfo().username))
  return [conf, acl]
}
