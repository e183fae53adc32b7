/**
 * The kits of an edge: the one that a person has put there, and those that were renewed over the session, each in a folder of its
 * own. The newest comes first. An older one stays until a session with a newer one was open, so that a crash at any moment, or a
 * certificate that the broker refuses, leaves a kit that works.
 */
import { X509Certificate } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { type CertificateLife, isRenewalDue } from '#shared/core/auth/certificate-life.ts'
import { commonName } from '#shared/core/auth/identity.ts'
import { errorText } from '#shared/core/error-text.ts'
import { type EdgeAddress, edgeName } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import type { NewCertificate } from '#shared/core/telemetry/renewal-wire.ts'
import { syncFolder } from '#shared/node/files.ts'
import { writeKit } from '#shared/node/pki/kit-write.ts'
import { ageComplaint, checkKit, type EdgeJson, type Kit, readKitOfAnyTime } from '#shared/node/pki/kit-read.ts'
import { lifeOf, serialOf } from '#shared/node/pki/certificate.ts'
import { PortCertificate, readPortPair } from './port-certificate.ts'

/** `folder`: of a renewed kit; undefined for the one that a person has put there. */
type Candidate = { kit: Kit; folder: string | undefined }

type KitsOptions = { candidates: Candidate[]; folder: string; port?: PortCertificate | undefined; log: Logger }

const RENEWED = /^renewed-[0-9A-F]{1,40}$/
/** A folder that was not finished when the process ended. */
const UNFINISHED = /^renewed-[0-9A-F]{1,40}\.new$/

export class EdgeKits {
  /** Undefined where the kit has no certificate of an HTTPS port. */
  readonly port: PortCertificate | undefined
  readonly #folder: string
  readonly #log: Logger
  /** The newest first. */
  #candidates: Candidate[]
  #at = 0
  /** The key of the certificate that the hub was asked for. It is not stored: after a restart the hub asks again. */
  #requested: { csr_pem: string; key_pem: string } | undefined

  /**
   * @param options candidates: at least one, all of the same edge
   * @param options folder of the renewed kits; it is created when it is needed
   */
  constructor({ candidates, folder, port, log }: KitsOptions) {
    this.port = port
    this.#candidates = candidates.toSorted((a, b) => lifeOf(b.kit.cert_pem).from - lifeOf(a.kit.cert_pem).from)
    this.#folder = folder
    this.#log = log
  }

  /** The kit of the next session. */
  current(): Kit {
    return this.#candidates[this.#at]!.kit
  }

  life(): CertificateLife {
    return lifeOf(this.current().cert_pem)
  }

  /**
   * Whether the hub should renew the certificate. A newer one that the broker refuses is not renewed once more, unless it has
   * not begun: the clock of the hub was ahead when it was issued.
   */
  isRenewalDue(now: number): boolean {
    const refused = this.#candidates.slice(0, this.#at)
    return refused.every(({ kit }) => lifeOf(kit.cert_pem).from > now) && isRenewalDue(this.life(), now)
  }

  /** Whether the hub should renew the certificate of the HTTPS port. */
  isPortRenewalDue(now: number): boolean {
    return this.port?.isRenewalDue(now, this.current().ca_pem) ?? false
  }

  /** No session could be opened with the current kit, so the next one is tried, and after the last one the first. */
  failed(): void {
    this.#at = (this.#at + 1) % this.#candidates.length
  }

  /** A session with `kit` is open: renewed kits before it are deleted. */
  async worked(kit: Kit): Promise<void> {
    const at = this.#candidates.findIndex(one => one.kit === kit)
    const older = at < 0 ? [] : this.#candidates.slice(at + 1)
    await this.#drop(older.filter(({ folder }) => folder !== undefined))
  }

  /** Makes a key and a request for its certificate, the same until a certificate is installed. */
  async request(): Promise<{ csr_pem: string }> {
    const { makeRequest } = await import('#shared/node/pki/pki.ts')
    this.#requested ??= await makeRequest(commonName({ kind: 'edge', ...this.current().edge }))
    return { csr_pem: this.#requested.csr_pem }
  }

  /**
   * Stores the certificate for the last request. The next session uses it.
   *
   * @returns its serial
   * @throws Problem conflict when none was requested; invalid with every reason when it cannot be used
   */
  async install({ cert_pem, ca_pem, token }: NewCertificate): Promise<string> {
    if (!this.#requested) throw new Problem('conflict', 'This edge has requested no certificate since it started')
    const before = this.current()
    const shown = token ?? before.token
    const { to } = lifeOf(cert_pem)
    const kit: Kit = {
      ...before,
      ...{ ca_pem, cert_pem, key_pem: this.#requested.key_pem },
      ...(shown !== undefined && { token: shown }),
      edge: { ...before.edge, not_after: new Date(to).toISOString() },
    }
    const complaints = checkKit(kit)
    if (complaints.length > 0) throw new Problem('invalid', `The certificate cannot be used: ${complaints.join('; ')}`)
    const serial = serialOf(new X509Certificate(cert_pem).serialNumber)
    const folder = await this.#store(kit, serial)
    this.#requested = undefined
    const refused = this.#candidates.slice(0, this.#at)
    this.#candidates = [{ kit, folder }, ...this.#candidates]
    this.#at = 0
    await this.#drop(this.#candidates.filter(one => refused.includes(one) && one.folder !== undefined))
    this.#log.info({ serial, not_after: kit.edge.not_after }, 'certificate renewed: the next session uses it')
    return serial
  }

  /** Stores a kit whole or not at all. */
  async #store(kit: Kit, serial: string): Promise<string> {
    const folder = join(this.#folder, `renewed-${serial}`)
    const unfinished = `${folder}.new`
    await rm(unfinished, { recursive: true, force: true })
    await writeKit(kit, unfinished)
    await rename(unfinished, folder)
    syncFolder(this.#folder)
    return folder
  }

  async #drop(candidates: Candidate[]): Promise<void> {
    const current = this.#candidates[this.#at]!
    for (const { folder } of candidates) {
      await rm(folder!, { recursive: true, force: true }).catch((error: unknown) =>
        this.#log.warn(`old certificate not deleted: ${errorText(error)}`),
      )
    }
    this.#candidates = this.#candidates.filter(one => !candidates.includes(one))
    this.#at = this.#candidates.indexOf(current)
  }
}

/** @param store of the edge, which also has its outbox */
export const renewedKitsFolder = (store: string): string => join(store, 'kit')

type Places = {
  /** The kit that a person has put there, as a folder or a ZIP. */
  path: string
  /** Folder of the renewed kits. */
  folder: string
  /** The edge that this process is. */
  edge: Pick<EdgeAddress, 'site_id' | 'edge_id'>
  /** Where the broker is, when the kit does not say so. */
  broker: Pick<EdgeJson, 'broker_host' | 'broker_port'> | undefined
  log: Logger
  /** ms since 1970 UTC */
  now: number
}

/**
 * Reads all kits of an edge. One whose certificate has ended, or begins later, is used too: the clock of this machine may be
 * wrong, and the broker decides.
 *
 * @throws KitError with the reasons when there is none that can be used; Error when the kit belongs to another edge
 */
export async function openEdgeKits({ path, folder, edge, broker, log, now }: Places): Promise<EdgeKits> {
  const renewed = await readRenewed(folder, log)
  const own = await readKitOfAnyTime(path).catch((error: unknown) => {
    if (!renewed.some(one => isOf(one.kit, edge))) throw error
    log.warn(`${errorText(error)}; the renewed certificate is used`)
    return undefined
  })
  if (own && !isOf(own, edge)) throw new Error(`the kit in ${path} is of ${edgeName(own.edge)}, this is ${edgeName(edge)}`)
  const same = renewed.filter(({ kit }) => isOf(kit, edge) && (!own || kit.edge.tenant_id === own.edge.tenant_id))
  // A person who corrects the broker's address does so in the kit that a person can see.
  const at = broker ?? (own && { broker_host: own.edge.broker_host, broker_port: own.edge.broker_port })
  const pair = own && (await readPortPair(own, folder))
  const candidates = [...same, ...(own ? [{ kit: own, folder: undefined }] : [])]
  const kits = new EdgeKits({
    candidates: candidates.map(one => ({ ...one, kit: { ...one.kit, ...pair, edge: { ...one.kit.edge, ...at } } })),
    folder,
    port: pair && new PortCertificate(pair, folder),
    log,
  })
  const complaint = ageComplaint(kits.current(), now)
  if (complaint !== undefined) log.warn(`${complaint}, by the clock of this machine: the broker decides`)
  return kits
}

async function readRenewed(folder: string, log: Logger): Promise<Candidate[]> {
  const found: Candidate[] = []
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const path = join(folder, name)
    if (UNFINISHED.test(name)) await rm(path, { recursive: true, force: true })
    if (!RENEWED.test(name)) continue
    await readKitOfAnyTime(path).then(
      kit => void found.push({ kit, folder: path }),
      (error: unknown) => log.warn(`renewed certificate not used: ${errorText(error)}`),
    )
  }
  return found
}

const isOf = ({ edge }: Kit, { site_id, edge_id }: Places['edge']): boolean =>
  edge.site_id === site_id && edge.edge_id === edge_id
