/** mosquitto's list of who may use which topics (`mosquitto.acl`), in the folder of an authority whose broker is mosquitto. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { commonName, type Identity, parseIdentity } from '#shared/core/auth/identity.ts'
import { toMosquittoAcl } from '#shared/core/topic/rule.ts'
import { replaceFile, unlessMissing } from '../files.ts'

export const MOSQUITTO_LIST = 'mosquitto.acl'
/** mosquitto reads its list again then, and keeps its sessions. */
const MOSQUITTO_RELOAD = 'pkill -HUP -x mosquitto'

/** `missing`: names with a valid certificate that the list has no block for; `run`: what has mosquitto let all in. */
export type MosquittoList = { missing: string[]; run: string }

type Issued = { cn: string; not_after: number; revoked_at: number | null }

/** One block for each name of an edge or a central that holds a certificate which is neither revoked nor expired. */
export function mosquittoAcl(issued: readonly Issued[], now: number): string {
  return namesOf(issued, now).map(toMosquittoAcl).join('\n')
}

/**
 * Writes the list anew after certificates have changed, where it can be done without harm: nobody has changed it by hand, and it
 * belongs to the account of this process, so mosquitto can read the new one as it could the old one.
 */
export async function refreshMosquittoList(dir: string, issued: readonly Issued[], now: number): Promise<void> {
  const path = join(dir, MOSQUITTO_LIST)
  const [text, held] = [await unlessMissing(readFile(path, 'utf8')), await unlessMissing(stat(path))]
  if (text === undefined || !held || held.uid !== process.getuid?.() || !isAsWritten(text)) return
  const next = mosquittoAcl(issued, now)
  if (next !== text) await replaceFile(path, next, held.mode & 0o777)
}

/** @returns undefined where there is no such list */
export async function readMosquittoList(dir: string, issued: readonly Issued[], now: number): Promise<MosquittoList | undefined> {
  const text = await unlessMissing(readFile(join(dir, MOSQUITTO_LIST), 'utf8'))
  if (text === undefined) return undefined
  const missing = namesOf(issued, now).filter(identity => !text.includes(toMosquittoAcl(identity)))
  const rewrite = `SERVICE_MQTT_CERT_DIR=${dir} node hub/mqtt/main.ts --mosquitto && ${MOSQUITTO_RELOAD}`
  return { missing: missing.map(commonName), run: missing.length > 0 ? rewrite : MOSQUITTO_RELOAD }
}

function namesOf(issued: readonly Issued[], now: number): Identity[] {
  const valid = issued.filter(({ revoked_at, not_after }) => revoked_at === null && not_after > now)
  const names = [...new Set(valid.map(({ cn }) => cn))].toSorted()
  return names.flatMap(cn => parseIdentity(cn) ?? [])
}

function isAsWritten(text: string): boolean {
  const names = text.match(/(?<=^user ).*$/gm) ?? []
  return (
    names
      .flatMap(cn => parseIdentity(cn) ?? [])
      .map(toMosquittoAcl)
      .join('\n') === text
  )
}
