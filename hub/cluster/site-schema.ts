/** Each site's hub has its tables in a schema of PostgreSQL of its own, so that hubs of several sites share a database. */

/** As an identifier of SQL. Names of certificates bound a site's id to 56 characters, and PostgreSQL reads 63. */
const schemaOf = (site_id: string): string => `"site:${site_id}"`

/** @returns SQL that makes the schema when it is not there */
export const createSchemaOf = (site_id: string): string => `CREATE SCHEMA IF NOT EXISTS ${schemaOf(site_id)}`

/** @returns the address with which a connection finds the tables of the site, and no others */
export function urlOfSite(url: string, site_id: string): string {
  const parsed = new URL(url)
  const given = parsed.searchParams.get('options')
  const ours = `-c search_path=${schemaOf(site_id)}`
  parsed.searchParams.set('options', given === null ? ours : `${given} ${ours}`)
  return parsed.href
}
