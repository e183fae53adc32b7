/** The server of a haystack process and its credentials. The key is sent to no other address. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { parseEndpoint } from './core/address.ts'
import type { DeviceCatalogue, DeviceEntry } from '../../store/catalogue-schema.ts'
import type { Server } from './session.ts'

export type HaystackAccess = Pick<Server, 'endpoint' | 'secret' | 'ca'>

type AccessSettings = {
  SERVICE_HAYSTACK_ENDPOINT: string | undefined
  SERVICE_HAYSTACK_API_KEY: string | undefined
  SERVICE_HAYSTACK_CA: string | undefined
}

/** @returns complaints about the settings; empty when `accessOf` may be called */
export function complainOfAccess(settings: AccessSettings): string[] {
  const { SERVICE_HAYSTACK_ENDPOINT: endpoint, SERVICE_HAYSTACK_API_KEY: key, SERVICE_HAYSTACK_CA: ca } = settings
  const parsed = parseEndpoint(endpoint ?? '')
  return [
    ...(typeof parsed === 'string' ? [`SERVICE_HAYSTACK_ENDPOINT: ${parsed}`] : []),
    ...(key === undefined || key.trim() === ''
      ? ['SERVICE_HAYSTACK_API_KEY: missing; set the API key or the password of the user']
      : []),
    ...(ca === undefined || isCertificate(ca) ? [] : ['SERVICE_HAYSTACK_CA: is not a certificate in PEM format']),
  ]
}

/** Call it only with settings for which `complainOfAccess` returns nothing. */
export function accessOf(settings: AccessSettings): HaystackAccess {
  const { SERVICE_HAYSTACK_ENDPOINT: endpoint = '', SERVICE_HAYSTACK_API_KEY: secret = '', SERVICE_HAYSTACK_CA: ca } = settings
  const parsed = parseEndpoint(endpoint)
  assert(typeof parsed !== 'string')
  return { endpoint: parsed, secret, ca }
}

/** @returns the server and login of an entry of a checked catalogue */
export function serverOf({ haystack }: DeviceEntry, access: HaystackAccess): Server {
  assert(haystack)
  return { ...access, auth: haystack.auth, username: haystack.username }
}

/** @returns the logins of the devices in the catalogue, each once */
export function serversOf({ devices }: DeviceCatalogue, access: HaystackAccess): Server[] {
  const servers = devices.filter(({ protocol }) => protocol === 'haystack').map(entry => serverOf(entry, access))
  const same = (a: Server) => (b: Server) => a.auth === b.auth && a.username === b.username
  return servers.filter((server, i) => servers.findIndex(same(server)) === i)
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}
