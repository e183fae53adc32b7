/** Reads the values of the commands' options. */
import { isIP } from 'node:net'

export type GivenOptions = Record<string, string | boolean | undefined>

/** A command line that cannot be carried out as it is. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** Labels of letters, digits, hyphens and underscores. @source RFC 1123 2.1 */
const HOST = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/
/** Characters of a name of the domain name system. @source RFC 1035 2.3.4 */
const HOST_MAX = 253
const HOST_TEXT = 'a host name or address without scheme, port and blanks; an international name as xn--'

const isHost = (text: string): boolean => isIP(text) > 0 || (HOST.test(text) && text.length <= HOST_MAX)

/** Host names and addresses of a certificate, by comma. The first label may be `*`. @throws UsageError */
export function readHosts(given: GivenOptions): string[] {
  const hosts = String(given['hosts'])
    .split(',')
    .map(host => host.trim())
  const wrong = hosts.find(host => !isHost(host.replace(/^\*\./, '')))
  if (wrong !== undefined) throw new UsageError(`--hosts: "${wrong}" is not ${HOST_TEXT}`)
  return hosts
}

function whole(given: GivenOptions, name: string, min: number, max: number): number | undefined {
  const text = given[name]
  if (text === undefined) return undefined
  const value = Number(text)
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new UsageError(`--${name} takes a whole number from ${min} to ${max}`)
  }
  return value
}

export const daysOf = (given: GivenOptions): { days?: number } => {
  const value = whole(given, 'days', 1, 36_525)
  return value === undefined ? {} : { days: value }
}

/** Where an edge belongs, and how it reaches its hub. @throws UsageError */
export function placeOf(given: GivenOptions) {
  const broker_host = String(given['broker-host'])
  if (!isHost(broker_host)) throw new UsageError(`--broker-host: "${broker_host}" is not ${HOST_TEXT}`)
  return {
    ...(given['tenant'] === undefined ? {} : { tenant_id: String(given['tenant']) }),
    site_id: String(given['site']),
    edge_id: String(given['edge']),
    broker_host,
    broker_port: whole(given, 'broker-port', 1, 65_535) ?? 8883,
    ...(given['hub-url'] === undefined ? {} : { hub_url: hubUrlOf(String(given['hub-url'])) }),
  }
}

function hubUrlOf(text: string): string {
  if (URL.canParse(text) && /^https?:\/\//.test(text)) return text
  throw new UsageError(`--hub-url: "${text}" is not a URL, as https://hub.example`)
}
