/** The bounds of a discovery request, for the API and the form. */
import { formatAddress, parseAddress } from '../address.ts'
import { INSTANCE_MAX } from '#shared/core/bacnet/object.ts'
import { DISCOVERY_DEFAULTS, type DiscoveryRequest } from './discovery.ts'

/** Four numbers and perhaps a port: a name would have to be looked up. */
export const ADDRESS_PATTERN = '^(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)(?:\\.(?!$|:)|(?=$|:))){4}(?::\\d{1,5})?$'
/** Addresses that one discovery calls: a subnet. */
export const ADDRESSES_MAX = 256
export const BOUNDS = {
  instance: [0, INSTANCE_MAX],
  network: [1, 65_534],
  seconds: [1, 120],
  requests_per_second: [1, 100],
} as const

/** Everything is optional; what is absent is as in `DISCOVERY_DEFAULTS`. */
type AskedDiscovery = Partial<Omit<DiscoveryRequest, 'addresses'>> & { addresses?: string[] }
export type RequestError = { pointer: string; message: string }

/**
 * @param asked of the right types, each number within its bounds
 * @returns the whole request, or what does not fit together
 */
export function completeRequest(asked: AskedDiscovery): { request: DiscoveryRequest } | { errors: RequestError[] } {
  const errors: RequestError[] = []
  const addresses: DiscoveryRequest['addresses'] = []
  for (const [i, text] of (asked.addresses ?? []).entries()) {
    const address = readAddress(text)
    if (!address) errors.push({ pointer: `/addresses/${i}`, message: `"${text}" is no IPv4 address with or without :port` })
    else if (!addresses.some(({ host, port }) => host === address.host && port === address.port)) addresses.push(address)
  }
  const request = { ...DISCOVERY_DEFAULTS, ...asked, addresses }
  if (request.low > request.high) {
    errors.push({ pointer: '/low', message: `the lowest instance ${request.low} is above the highest ${request.high}` })
  }
  if (asked.addresses?.length && request.network !== 'all') {
    errors.push({ pointer: '/network', message: 'a network is called by broadcast: leave it out, or leave the addresses out' })
  }
  return errors.length ? { errors } : { request }
}

function readAddress(text: string): { host: string; port: number } | undefined {
  return new RegExp(ADDRESS_PATTERN).test(text) ? parseAddress(text) : undefined
}

/** The fields of the form, as texts; a blank one is not asked. */
export const FORM_FIELDS = ['low', 'high', 'network', 'addresses', 'seconds', 'requests_per_second'] as const
export type FormFields = Partial<Record<(typeof FORM_FIELDS)[number], string>>

/** Reads the form. `network` is all, local or a number; `addresses` are parted by blanks, commas or lines. */
export function readForm(fields: FormFields): { request: DiscoveryRequest } | { errors: RequestError[] } {
  const errors: RequestError[] = []
  const whole = (name: (typeof FORM_FIELDS)[number], [least, most]: readonly [number, number]): number | undefined => {
    const text = fields[name]?.trim() ?? ''
    if (text === '') return undefined
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    errors.push({ pointer: `/${name}`, message: `"${text}" is no whole number from ${least} to ${most}` })
    return undefined
  }
  const low = whole('low', BOUNDS.instance)
  const high = whole('high', BOUNDS.instance)
  const seconds = whole('seconds', BOUNDS.seconds)
  const requests_per_second = whole('requests_per_second', BOUNDS.requests_per_second)
  const named = fields.network?.trim() ?? ''
  const network = named === 'all' || named === 'local' ? named : whole('network', BOUNDS.network)
  const addresses = (fields.addresses ?? '').split(/[\s,;]+/).filter(Boolean)
  if (addresses.length > ADDRESSES_MAX) {
    errors.push({
      pointer: '/addresses',
      message: `there are ${addresses.length} addresses; at most ${ADDRESSES_MAX} are called`,
    })
  }
  const completed = completeRequest({
    ...(low !== undefined && { low }),
    ...(high !== undefined && { high }),
    ...(seconds !== undefined && { seconds }),
    ...(requests_per_second !== undefined && { requests_per_second }),
    ...(network !== undefined && { network }),
    ...(addresses.length > 0 && { addresses }),
  })
  const all = [...errors, ...('errors' in completed ? completed.errors : [])]
  return all.length || 'errors' in completed ? { errors: all } : completed
}

/** The fields that ask for the same again; what is as by default stays blank. */
export function formOf(request: DiscoveryRequest = DISCOVERY_DEFAULTS): FormFields {
  const numbers = ['low', 'high', 'network', 'seconds', 'requests_per_second'] as const
  const fields: FormFields = {}
  for (const name of numbers) if (request[name] !== DISCOVERY_DEFAULTS[name]) fields[name] = String(request[name])
  const addresses = request.addresses.map(formatAddress)
  return addresses.length ? { ...fields, addresses: addresses.join(' ') } : fields
}
