/** Where BACnet/IP is spoken, as the settings say. */
import type { Settings } from '#shared/core/env.ts'
import type { BACNET_VARIABLES } from '../../env.ts'
import type { Bind } from './transport.ts'

const DEFAULT_PORT = 47_808

/** @param settings checked against their patterns */
export function bindOf(settings: Settings<typeof BACNET_VARIABLES>): Bind {
  const [address = '', ...furtherAddresses] = settings.SERVICE_BACNET_BIND.split(',').map(part => part.trim())
  const [host, port = DEFAULT_PORT] = settings.SERVICE_BACNET_BBMD?.split(':') ?? []
  return {
    address,
    furtherAddresses,
    port: settings.SERVICE_BACNET_PORT,
    maxRequestsPerSecond: settings.SERVICE_BACNET_MAX_REQUESTS_PER_SECOND,
    ...(host && { bbmd: { host, port: Number(port), ttlSecs: settings.SERVICE_BACNET_BBMD_TTL_SECS } }),
  }
}
