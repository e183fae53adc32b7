/** The folder of a certificate authority: its key, the issued and the revoked certificates. It works without a hub. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CN_MAX, commonName, type Identity, parseIdentity } from '#shared/core/auth/identity.ts'
import { isRenewalDue } from '#shared/core/auth/certificate-life.ts'
import type { EdgeAddress } from '#shared/core/model/model.ts'
import type { NewCertificate } from '#shared/core/telemetry/renewal-wire.ts'
import { DAY, formatInstant } from '#shared/core/time.ts'
import { edgeToken, haveEdgeTokensKey } from '#shared/node/auth/edge-token.ts'
import { makeFolder, replaceFile, unlessMissing } from '#shared/node/files.ts'
import { edgeIdentity, kitAround, type KitRequest, makeKit } from './kit-make.ts'
import type { Kit } from './kit-read.ts'
import { isPair, lifeOf, serialOf } from './certificate.ts'
import { readMosquittoList, refreshMosquittoList } from './mosquitto-list.ts'
import {
  type Issued,
  issueClient,
  issueForRequest,
  issueServer,
  joinAuthorities,
  joinCrls,
  chainOf,
  makeCa,
  makeIntermediateCa,
  makeCrl,
  type Pair,
  readCrl,
  reissue,
} from './pki.ts'

/** One line of `issued.json`. Times are ms since 1970 UTC. */
export type IssuedRecord = {
  serial: string
  cn: string
  kind: 'edge' | 'central' | 'broker' | 'connector' | 'authority'
  issued_at: number
  not_after: number
  revoked_at: number | null
}
type Place = Omit<KitRequest, 'now' | 'days'>
type Days = { days?: number }

/** Files in the folder. Keys have mode 600. */
export const PKI_FILES = {
  ca: { cert: 'ca.cert.pem', key: 'ca.key.pem' },
  broker: { cert: 'broker.cert.pem', key: 'broker.key.pem' },
  central: { cert: 'central.cert.pem', key: 'central.key.pem' },
  crl: 'crl.pem',
  issued: 'issued.json',
} as const

/** A command that the authority refuses; the message gives the reason. */
export class PkiRefusal extends Error {
  override name = 'PkiRefusal'
}

export type Pki = Awaited<ReturnType<typeof openPki>>

type NewAuthority = {
  name: string
  now: number
  days?: number
  /** Folder of an authority that signs the new one, which is then an intermediate one. */
  above?: string
  /** Of the key of `above`; without `above`, the new key is stored under it. */
  passphrase?: string | undefined
}

/**
 * Creates an authority in a folder that has none. The key of an intermediate one is stored as it is, because a hub reads it
 * unattended.
 *
 * @throws PkiRefusal when there is one, or `above` has none or cannot be opened
 */
export async function makePki(dir: string, { above, passphrase, ...options }: NewAuthority): Promise<void> {
  if (await read(join(dir, PKI_FILES.ca.key))) throw new PkiRefusal(`${dir} has an authority already`)
  const parent = above === undefined ? undefined : await openPki(above, () => options.now, passphrase)
  await makeFolder(dir, 0o700)
  const ca = await (parent ? parent.intermediate(options) : makeCa(options))
  const stored = parent || passphrase === undefined ? ca.key_pem : encryptKey(ca.key_pem, passphrase)
  await writePair(dir, PKI_FILES.ca, { ...ca, key_pem: stored })
  await replaceFile(join(dir, PKI_FILES.crl), await makeCrl(ca, [], options.now))
  await writeIssued(dir, [], options.now)
  await haveEdgeTokensKey(dir)
}

/**
 * Opens the authority in `dir`. Every certificate is listed before it is returned. The function is long because its commands
 * share the key pair and the list.
 *
 * @param now ms since 1970 UTC, read at each command
 * @param passphrase of the authority's key, where it is stored under one
 * @throws PkiRefusal when there is none, or its key cannot be opened
 */
export async function openPki(dir: string, now: () => number, passphrase?: string) {
  const [cert_pem, stored] = [await read(join(dir, PKI_FILES.ca.cert)), await read(join(dir, PKI_FILES.ca.key))]
  if (cert_pem === undefined || stored === undefined) throw new PkiRefusal(`there is no authority in ${dir}`)
  const ca: Pair = { cert_pem, key_pem: openKey(dir, stored, passphrase) }
  if (!isPair(ca.cert_pem, ca.key_pem))
    throw new PkiRefusal(`${PKI_FILES.ca.key} in ${dir} is not the key of ${PKI_FILES.ca.cert}`)

  const enter = async (issued: Issued, kind: IssuedRecord['kind']) => {
    const { serial, cn, not_after } = issued
    const { to } = lifeOf(cert_pem)
    if (to <= now()) throw new PkiRefusal(`the authority in ${dir} ended at ${formatInstant(to)}: make a new one`)
    await writeIssued(
      dir,
      [...(await readIssued(dir)), { serial, cn, kind, issued_at: now(), not_after, revoked_at: null }],
      now(),
    )
  }
  const pair = async (issued: Issued & Pair, kind: 'broker' | 'central') => {
    await enter(issued, kind)
    await writePair(dir, PKI_FILES[kind], issued)
    return issued
  }
  /** A kit without key, for a certificate whose key stays on its machine. */
  const keyless = async (issued: Issued, place: Place) => {
    await enter(issued, 'edge')
    return { ...kitAround(ca.cert_pem, issued, place), token: await tokenOf(place) }
  }
  const validRecord = async (serial: string, what: string): Promise<IssuedRecord> => {
    const record = (await readIssued(dir)).find(issued => issued.serial === serialOf(serial))
    if (!record) throw new PkiRefusal(`${what} was not issued here`)
    if (record.revoked_at !== null) throw new PkiRefusal(`${what} is revoked`)
    return record
  }
  const again = (options: Parameters<typeof reissue>[1]): Promise<Issued> =>
    reissue(ca, options).catch((error: Error) => {
      throw new PkiRefusal(error.message, { cause: error })
    })
  const isCurrent = async (pem: string): Promise<boolean> => {
    const { serialNumber } = new X509Certificate(pem)
    const record = (await readIssued(dir)).find(({ serial }) => serial === serialOf(serialNumber))
    return record !== undefined && record.revoked_at === null && !isRenewalDue(lifeOf(pem), now())
  }
  const ownList = async (issued: IssuedRecord[]) => {
    const revoked = issued.flatMap(({ serial, revoked_at }) => (revoked_at === null ? [] : [{ serial, revoked_at }]))
    return makeCrl(ca, revoked, now())
  }
  /** Of this authority and of others. A folder that has lost the file begins anew. @throws PkiRefusal for a damaged file */
  const heldLists = async () => {
    const held = (await read(join(dir, PKI_FILES.crl))) ?? (await ownList(await readIssued(dir)))
    const damage = await readCrl(held, cert_pem).then(
      () => undefined,
      (error: Error) => error,
    )
    if (damage === undefined) return held
    const way = 'remove it, repeat this, and take the lists of other authorities with trust --crl'
    throw new PkiRefusal(`${join(dir, PKI_FILES.crl)} cannot be read (${damage.message}): ${way}`, { cause: damage })
  }
  const tokenOf = async (place: EdgeAddress) => edgeToken(await haveEdgeTokensKey(dir), place)
  return {
    ca_pem: cert_pem,
    /** Name of the authority, and of the one above it, which is its own for a root. */
    names: () => {
      const { subject, issuer } = new X509Certificate(cert_pem)
      return { name: subject.replace(/^CN=/, ''), above: issuer.replace(/^CN=/, '') }
    },
    /**
     * The certificate that was written for the broker or central, when it is still to be used: of this authority, not revoked,
     * with more than a third of its life left and with its key, which a power cut between the two files may have replaced alone.
     */
    current: async (kind: 'broker' | 'central'): Promise<X509Certificate | undefined> => {
      const [pem, key_pem] = [await read(join(dir, PKI_FILES[kind].cert)), await read(join(dir, PKI_FILES[kind].key))]
      if (pem === undefined || key_pem === undefined || !(await isCurrent(pem))) return undefined
      const certificate = new X509Certificate(pem)
      return certificate.checkPrivateKey(createPrivateKey(key_pem)) ? certificate : undefined
    },
    isCurrent: (cert_pem: string) => isCurrent(cert_pem),
    list: () => readIssued(dir),
    /** Undefined where mosquitto has no list in this folder. */
    mosquittoList: async () => readMosquittoList(dir, await readIssued(dir), now()),
    /** Issues the certificate of an intermediate authority. @throws PkiRefusal when this authority may issue none */
    intermediate: async (options: { name: string; now: number; days?: number }): Promise<Pair> => {
      const issued = await makeIntermediateCa(ca, options).catch((error: Error) => {
        throw new PkiRefusal(error.message, { cause: error })
      })
      await enter(issued, 'authority')
      return issued
    },
    /** Issues the broker's certificate and writes it beside the authority's. */
    broker: async ({ hosts, days }: Days & { hosts: string[] }) =>
      pair(await issueServer(ca, { hosts, now: now(), ...orDefault(days) }), 'broker'),
    /** Issues central's certificate for one site, for all (`*`), or for all tenants, and writes it beside the authority's. */
    central: async ({ days, ...reach }: Days & Omit<Extract<Identity, { kind: 'central' }>, 'kind'>) => {
      const identity: Identity = { kind: 'central', ...reach }
      const cn = commonName(identity)
      if (!parseIdentity(cn)) throw new RangeError('a site id consists of letters, digits and ._-')
      if (cn.length > CN_MAX) throw new RangeError(`"${cn}" has more than the ${CN_MAX} characters of a common name`)
      return pair(await issueClient(ca, { cn, now: now(), ...orDefault(days) }), 'central')
    },
    /** Issues the certificate and key of an edge. @throws RangeError when the ids cannot form a common name */
    kit: async ({ days, ...place }: Days & Place): Promise<Kit> => {
      const { serial, ...kit } = await makeKit(ca, { ...place, now: now(), ...orDefault(days) })
      const cn = commonName(edgeIdentity(place))
      await enter({ serial, cn, cert_pem: kit.cert_pem, not_after: Date.parse(kit.edge.not_after) }, 'edge')
      return { ...kit, token: await tokenOf(place) }
    },
    /** Issues the certificate and key of an edge's HTTPS port, for the names and addresses that the hub uses. */
    connector: async ({ hosts, days, ...edge }: Days & EdgeAddress & { hosts: string[] }) => {
      const issued = await issueServer(ca, { hosts, now: now(), ...orDefault(days) })
      await enter({ ...issued, cn: connectorName(edge) }, 'connector')
      return { serial: issued.serial, connector_cert_pem: issued.cert_pem, connector_key_pem: issued.key_pem }
    },
    /** Issues a certificate for a key that stays on the edge. @throws Error when the signature of the request is wrong */
    sign: async ({ csr_pem, days, ...place }: Days & Place & { csr_pem: string }) => {
      const cn = commonName(edgeIdentity(place))
      return keyless(await issueForRequest(ca, { csr_pem, cn, now: now(), ...orDefault(days) }), place)
    },
    /** As `sign`, for an edge that has a kit. @returns with the token of the edge */
    reissue: async ({ csr_pem, days, ...edge }: Days & EdgeAddress & { csr_pem: string }): Promise<NewCertificate & Issued> => {
      const issued = await issueForRequest(ca, { csr_pem, cn: commonName(edgeIdentity(edge)), now: now(), ...orDefault(days) })
      await enter(issued, 'edge')
      return { ...issued, ca_pem: cert_pem, token: await tokenOf(edge) }
    },
    /**
     * Issues a new certificate for the key of a kit. @throws PkiRefusal when its certificate was not issued here or is
     * revoked
     */
    renew: async ({ kit, serial, days }: Days & { kit: Kit; serial: string }) => {
      await validRecord(serial, 'the certificate of the kit')
      const issued = await again({ cert_pem: kit.cert_pem, now: now(), ...orDefault(days) })
      const { topic_base: _base, not_after: _end, ...place } = kit.edge
      return keyless(issued, place)
    },
    /**
     * Issues a new certificate for the key and names of one of the broker, of central or of an edge's HTTPS port, for as many days as
     * before, and replaces the file. Since the key stays, there is no moment at which key and certificate do not belong together.
     *
     * @param file of the certificate; those of authorities that follow in it stay
     * @throws PkiRefusal when it was not issued here, is revoked, or is of another kind; Error when it cannot be read
     */
    renewFile: async (file: string, { days }: Days = {}): Promise<Issued> => {
      const cert_pem = await readFile(file, 'utf8')
      const record = await validRecord(serialIn(cert_pem, file), `the certificate in ${file}`)
      const { kind } = record
      if (kind === 'edge') throw new PkiRefusal(`${file} belongs to an edge: renew its kit`)
      if (kind === 'authority') throw new PkiRefusal(`${file} is of an authority, which is replaced by a new one`)
      const issued = await again({ cert_pem, now: now(), days: days ?? daysOf(record) })
      await enter({ ...issued, cn: record.cn }, kind)
      await replaceFile(file, issued.cert_pem, (await stat(file)).mode & 0o777)
      return issued
    },
    /**
     * Issues a new certificate for the key and names of an edge's HTTPS port, for as many days as before.
     *
     * @throws PkiRefusal when it was not issued here for this edge, or is revoked
     */
    renewConnector: async (edge: EdgeAddress, cert_pem: string): Promise<Issued> => {
      const what = `the certificate of the HTTPS port of ${edge.edge_id}`
      const record = await validRecord(new X509Certificate(cert_pem).serialNumber, what)
      if (record.kind !== 'connector' || record.cn !== connectorName(edge))
        throw new PkiRefusal(`${what} was issued for another one`)
      const issued = await again({ cert_pem, now: now(), days: daysOf(record) })
      await enter({ ...issued, cn: record.cn }, 'connector')
      return issued
    },
    /** Adds a certificate to the revocation list that brokers read. @throws PkiRefusal when it was not issued here */
    revoke: async (serial: string): Promise<IssuedRecord> => {
      const all = await readIssued(dir)
      const record = all.find(issued => issued.serial === serialOf(serial))
      if (!record) throw new PkiRefusal(`no certificate with serial ${serial} was issued here`)
      record.revoked_at ??= now()
      await writeIssued(dir, all, now())
      const lists = await joinCrls([await heldLists(), await ownList(all)], cert_pem)
      await replaceFile(join(dir, PKI_FILES.crl), lists)
      return record
    },
    /**
     * Trusts other authorities beside this one: the broker takes their certificates, and kits from now on name them. Their
     * revocation lists are taken too, also newer ones of authorities that are trusted already.
     *
     * @throws PkiRefusal when one is no authority, or a list is not theirs
     */
    trust: async (added: { ca_pem: string; crl_pem: string | undefined }): Promise<string> => {
      try {
        const trusted = joinAuthorities(cert_pem, added.ca_pem)
        if (added.crl_pem !== undefined && !added.crl_pem.includes('-----BEGIN X509 CRL-----'))
          throw new Error('there is no list of revoked certificates in it')
        // The own one comes last, since it is the one that counts.
        const crl = await joinCrls([added.crl_pem ?? '', await heldLists()], trusted)
        await replaceFile(join(dir, PKI_FILES.ca.cert), trusted)
        await replaceFile(join(dir, PKI_FILES.crl), crl)
        return trusted
      } catch (error) {
        throw new PkiRefusal((error as Error).message, { cause: error })
      }
    },
    /** Trusts this authority and those above it alone. */
    trustOnlyOwn: async (): Promise<string> => {
      const own = await chainOf(cert_pem)
      await replaceFile(join(dir, PKI_FILES.crl), await ownList(await readIssued(dir)))
      await replaceFile(join(dir, PKI_FILES.ca.cert), own)
      return own
    },
  }
}

/** PKCS #8 under a passphrase (PBES2 with AES-256), as other programs read it. */
const encryptKey = (key_pem: string, passphrase: string): string =>
  createPrivateKey(key_pem).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase }).toString()

function openKey(dir: string, stored: string, passphrase: string | undefined): string {
  if (!stored.includes('ENCRYPTED')) return stored
  if (passphrase === undefined) throw new PkiRefusal(`the key of the authority in ${dir} is under a passphrase`)
  try {
    return createPrivateKey({ key: stored, passphrase }).export({ type: 'pkcs8', format: 'pem' }).toString()
  } catch (error) {
    throw new PkiRefusal(`the passphrase does not open the key of the authority in ${dir}`, { cause: error })
  }
}

/** @throws PkiRefusal when the file has no certificate */
function serialIn(cert_pem: string, file: string): string {
  try {
    return new X509Certificate(cert_pem).serialNumber
  } catch (error) {
    throw new PkiRefusal(`${file} is not a certificate (PEM)`, { cause: error })
  }
}

const connectorName = (edge: EdgeAddress): string => commonName(edgeIdentity(edge)).replace(/^edge/, 'connector')

/** Whole days for which a certificate was issued. */
const daysOf = ({ issued_at, not_after }: IssuedRecord): number => Math.max(1, Math.round((not_after - issued_at) / DAY))

const orDefault = (days: number | undefined) => (days === undefined ? {} : { days })

const read = (path: string): Promise<string | undefined> => unlessMissing(readFile(path, 'utf8'))

async function readIssued(dir: string): Promise<IssuedRecord[]> {
  const path = join(dir, PKI_FILES.issued)
  const text = await readFile(path, 'utf8')
  try {
    return JSON.parse(text) as IssuedRecord[]
  } catch (error) {
    throw new PkiRefusal(`${path} is damaged: restore it from a copy (${(error as Error).message})`, { cause: error })
  }
}

async function writeIssued(dir: string, issued: IssuedRecord[], now: number): Promise<void> {
  await replaceFile(join(dir, PKI_FILES.issued), `${JSON.stringify(issued, null, 2)}\n`)
  // A certificate counts without it; who asks what mosquitto lacks is told.
  await refreshMosquittoList(dir, issued, now).catch(() => undefined)
}

async function writePair(dir: string, names: { cert: string; key: string }, { cert_pem, key_pem }: Pair): Promise<void> {
  await replaceFile(join(dir, names.key), key_pem, 0o600)
  await replaceFile(join(dir, names.cert), cert_pem)
}
