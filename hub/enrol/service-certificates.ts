/** The certificates of the hub itself: renewed before they end where the authority is here, and a warning with what to do where not. */
import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { HealthCheck } from '#shared/central/context.ts'
import { type CertificateLife, isRenewalDue } from '#shared/core/auth/certificate-life.ts'
import { errorText } from '#shared/core/error-text.ts'
import { Problem } from '#shared/core/problem.ts'
import { DAY, formatInstant, MINUTE } from '#shared/core/time.ts'
import type { AuditNote } from '#shared/node/http/route.ts'
import { lifeOf, serialOf } from '#shared/node/pki/certificate.ts'
import { CERT_DAYS } from '#shared/node/pki/pki.ts'
import { PKI_FILES, PkiRefusal } from '#shared/node/pki/pki-files.ts'
import { repeated } from '#shared/node/repeated.ts'
import type { Service } from '#shared/node/service.ts'
import type { Authority } from './authority.ts'

type Holder = 'broker' | 'central' | 'pages' | 'authority'
export type ServiceCertificate = CertificateLife & {
  holder: Holder
  path: string
  serial: string
  /** What a person has to do, from two thirds of its life on; undefined where nothing. */
  advice: string | undefined
}

type Parts = {
  /** Folder of the certificates of broker and central; undefined where this process has none. */
  dir: string | undefined
  /** Folder with cert.pem of the pages. */
  tlsDir: string | undefined
  /** Undefined where another process, which has the authority, renews in the same folder. */
  renew: Authority['renewFile'] | undefined
  audit: (note: AuditNote) => void
  log: Logger
  /** ms since 1970 UTC */
  now: () => number
}

export type ServiceCertificates = {
  /** Looks at the start, before anything listens with an old certificate, and each minute. */
  service: Service
  look(): Promise<void>
  /** As they were at the last look. */
  states(): readonly ServiceCertificate[]
  check(): HealthCheck
}

const LOOK_MS = MINUTE
/** A certificate that nobody replaces is told of once a day. */
const AGAIN_MS = DAY
/** How long a process leaves a renewal to the one that has the authority before it tells of it. */
const OTHERS_MS = DAY

export function createServiceCertificates({ dir, tlsDir, renew, audit, log, now }: Parts): ServiceCertificates {
  let states: readonly ServiceCertificate[] = []
  const toldAt = new Map<string, number>()

  const at = (name: string) => join(dir!, name)
  const files: { holder: Holder; path: string }[] = [
    ...(dir === undefined
      ? []
      : [
          { holder: 'broker' as const, path: at(PKI_FILES.broker.cert) },
          { holder: 'central' as const, path: at(PKI_FILES.central.cert) },
          { holder: 'authority' as const, path: at(PKI_FILES.ca.cert) },
        ]),
    ...(tlsDir === undefined ? [] : [{ holder: 'pages' as const, path: join(tlsDir, 'cert.pem') }]),
  ]
  const tell = (path: string, text: string) => {
    if (now() - (toldAt.get(path) ?? -Infinity) < AGAIN_MS) return
    toldAt.set(path, now())
    log.warn(text)
  }
  /** @returns why it could not be renewed; undefined when it was */
  const renewed = async (holder: Holder, path: string): Promise<unknown> => {
    if (!renew) return new Problem('no_authority', 'Another process renews')
    try {
      const { serial, not_after } = await renew(path)
      log.info({ path, serial, not_after: formatInstant(not_after) }, `certificate renewed: ${holder}`)
      audit({ subject: holder, after: { serial, not_after: formatInstant(not_after) } })
      return undefined
    } catch (error) {
      return error
    }
  }
  const stateOf = async (holder: Holder, path: string): Promise<ServiceCertificate | undefined> => {
    const held = await readCertificate(path)
    if (!held) return undefined
    const since = renew ? now() : now() - OTHERS_MS
    if (!isDue(holder, held, since)) {
      toldAt.delete(path)
      return { holder, path, ...held, advice: undefined }
    }
    const failure = holder === 'authority' ? undefined : await renewed(holder, path)
    if (failure === undefined && holder !== 'authority')
      return { holder, path, ...(await readCertificate(path))!, advice: undefined }
    const isForeign = failure instanceof PkiRefusal || (failure instanceof Problem && failure.code === 'no_authority')
    if (holder === 'pages' && isForeign && !isLate(held, since)) return { holder, path, ...held, advice: undefined }
    const advice =
      failure === undefined || isForeign ? adviceFor(holder, path, dir) : `it could not be renewed: ${errorText(failure)}`
    tell(path, `${sentence(holder, held, now())}: ${advice}`)
    return { holder, path, ...held, advice }
  }
  const lookNow = async () => {
    const found: ServiceCertificate[] = []
    for (const { holder, path } of files) {
      const state = await stateOf(holder, path).catch((error: unknown) =>
        tell(path, `${path} cannot be looked at: ${errorText(error)}`),
      )
      if (state) found.push(state)
    }
    states = found
  }
  const { run: look, start, stop } = repeated(lookNow, LOOK_MS)
  return {
    service: {
      name: 'certificates',
      start: async () => {
        await look()
        start()
      },
      stop,
    },
    look,
    states: () => states,
    check: () => {
      const days = Object.fromEntries(states.map(({ holder, to }) => [`${holder}_days_left`, Math.floor((to - now()) / DAY)]))
      const due = states.filter(({ advice }) => advice !== undefined)
      if (due.length === 0) return { status: 'ok', ...days }
      return { status: 'warn', ...days, detail: due.map(one => `${sentence(one.holder, one, now())}: ${one.advice}`).join('. ') }
    },
  }
}

/** @returns undefined where there is no such file */
async function readCertificate(path: string): Promise<(CertificateLife & { serial: string }) | undefined> {
  const pem = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  return pem === undefined ? undefined : { ...lifeOf(pem), serial: serialOf(new X509Certificate(pem).serialNumber) }
}

/**
 * Whether a certificate should be renewed. One that begins later was made while the clock was ahead. An authority is replaced
 * while the certificates that it issues can still last as long as they say.
 */
function isDue(holder: Holder, life: CertificateLife, now: number): boolean {
  if (holder === 'authority') return life.to - now < CERT_DAYS * DAY
  return isRenewalDue(life, now) || life.from > now
}

/** Whether five sixths of a life are over: programs that get certificates of other authorities begin to renew at two thirds. */
const isLate = ({ from, to }: CertificateLife, now: number): boolean => now - from > ((to - from) * 5) / 6

const WORDS: Record<Holder, string> = {
  broker: 'the certificate of the broker',
  central: 'the certificate of central',
  pages: 'the certificate of the pages',
  authority: 'the authority',
}

const sentence = (holder: Holder, { to }: CertificateLife, now: number): string =>
  `${WORDS[holder]} ${to <= now ? 'ended' : 'ends'} at ${formatInstant(to)}`

function adviceFor(holder: Holder, path: string, dir: string | undefined): string {
  if (holder === 'authority') return 'make a new one and have both overlap (provisioning/README.md, Replacing the authority)'
  if (holder === 'pages') return `put a new pair in place of ${path} and key.pem, which is used at once`
  const command = 'node provisioning/main.ts renew'
  if (dir !== undefined && existsSync(join(dir, PKI_FILES.ca.key))) {
    return `run \`${command} --dir ${dir} --cert ${path} --passphrase-file FILE\`; it is used at once`
  }
  const { cert } = PKI_FILES[holder]
  return `bring the file to the machine of the authority, run \`${command} --dir AUTHORITY --cert ${cert}\` there and put it back as ${path}; it is used at once`
}
