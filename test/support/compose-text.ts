/** The variables of a compose file, as docker compose replaces them. @source compose specification, "Interpolation" */
import { parse } from 'yaml'

type Site = Record<string, string | undefined>

/**
 * Reads a compose file with the variables of a site.
 *
 * @param site variables of the shell and of the env file
 * @throws Error `NAME: message` for `${NAME:?message}` without a value
 */
export function readCompose(text: string, site: Site): unknown {
  return replaced(parse(text), site)
}

/** Values are replaced after the file has been parsed, so that none of them changes its structure. */
function replaced(value: unknown, site: Site): unknown {
  if (typeof value === 'string') return interpolate(value, site)
  if (Array.isArray(value)) return value.map(one => replaced(one, site))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, replaced(one, site)]))
}

const interpolate = (text: string, site: Site): string =>
  text.replaceAll(/\$\{(\w+)(?::([?+-])([^{}]*))?\}/g, (_whole, name: string, kind: string | undefined, word = '') => {
    const value = site[name]
    if (kind === '+') return value ? word : ''
    if (value) return value
    if (kind === '?') throw new Error(`${name}: ${word}`)
    return kind === '-' ? word : ''
  })

/** What the recipes ask of whoever starts them, all of them together; the registry of images is asked of containers alone. */
export const RECIPE_SETTINGS: Readonly<Record<string, string>> = {
  SERVICE_JWT_SECRET: 'j'.repeat(40),
  SERVICE_ADMIN_PASSWORD: 'admin-of-the-test',
  SERVICE_LOCAL_INGEST_TOKEN: 't'.repeat(40),
  SERVICE_MQTT_CERT_DIR: '/srv/certs',
  SERVICE_MQTT_HOST: 'hub.example',
  SERVICE_SITE_ID: 'plant-7',
  SERVICE_EDGE_KIT_DIR: '/srv/kit',
  SERVICE_HAYSTACK_ENDPOINT: 'https://server.example/api/demo/',
  SERVICE_HAYSTACK_API_KEY: 'key-of-the-test',
}
