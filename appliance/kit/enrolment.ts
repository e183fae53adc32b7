/** A box without a kit asks a hub for a certificate, waits until a person there accepts it, and becomes that edge. */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { readEnrolmentLine } from '#shared/core/auth/enrolment.ts'
import { errorText } from '#shared/core/error-text.ts'
import type { EdgeKey } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import { SECOND } from '#shared/core/time.ts'
import { makeFolder, replaceFile, unlessMissing } from '#shared/node/files.ts'
import { authorityFingerprint, keyFingerprint } from '#shared/node/pki/fingerprint.ts'
import { checkKit, type Kit } from '#shared/node/pki/kit-read.ts'
import type { Service } from '#shared/node/service.ts'
import { FIRST_SITE } from '../core/system/first-site.ts'
import { adoptKit, type KitPlaces } from './adopt-kit.ts'
import { askHub } from './hub-request.ts'

/** How often a box that waits asks: a person stands at it. */
const POLL_MS = 15 * SECOND

/** Stored, so that a restart goes on with the same key. */
type Request = { hub_url: string; authority: string; tenant_id?: string; csr_pem: string; key_pem: string }

export const BOX_ENROLMENT_STATES = ['enrolled', 'unavailable', 'idle', 'waiting', 'rejected', 'restarting'] as const

export type BoxEnrolmentState =
  /** `hub`: host of the broker. */
  | { state: 'enrolled'; hub: string }
  | { state: 'unavailable' | 'idle' }
  /** `problem`: why the last attempt came to nothing; the next follows by itself. */
  | { state: 'waiting' | 'rejected' | 'restarting'; hub_url: string; fingerprint: string; problem?: string }

export type BoxEnrolment = {
  state(): BoxEnrolmentState
  /** Begins to ask. @param line as the hub's page shows it. @throws Problem invalid, conflict when this box cannot be enrolled */
  ask(line: string): Promise<void>
  /** Forgets the request and its key. */
  cancel(): Promise<void>
  service: Service
}

type Options = {
  /** Host of the broker of the present kit; undefined where there is none. */
  hub: string | undefined
  edge: EdgeKey
  places: KitPlaces
  /** Whether a kit would be used after a restart. */
  isAvailable: boolean
  /** Folder in which the request is stored. */
  folder: string
  /** Ends this process: its supervisor starts it again, with the kit. */
  restart: () => void
  pollMs?: number
  log: Logger
}

export async function openEnrolment(options: Options): Promise<BoxEnrolment> {
  const { hub, edge, places, isAvailable, folder, restart, pollMs = POLL_MS, log } = options
  const file = join(folder, 'enrolment.json')
  let request = hub === undefined ? await readRequest(file) : undefined
  let state: 'waiting' | 'rejected' | 'restarting' = 'waiting'
  let problem: string | undefined
  let timer: NodeJS.Timeout | undefined
  let polling: Promise<void> | undefined

  const poll = async (asked: Request) => {
    const base = new URL('/api/enrolments', asked.hub_url)
    const known = await askHub(new URL(`${base.href}/${keyFingerprint(asked.key_pem)}`))
    if (request !== asked) return
    if (known.status === 404) {
      const proposal = edge.site_id === FIRST_SITE ? { edge_id: edge.edge_id } : edge
      const { csr_pem, tenant_id } = asked
      const answer = await askHub(base, { csr_pem, ...proposal, ...(tenant_id !== undefined && { tenant_id }) })
      if (answer.status !== 202) throw new Error(reasonOf(answer))
      return
    }
    if (known.status !== 200) throw new Error(reasonOf(known))
    if (known.body['state'] === 'rejected') state = 'rejected'
    if (known.body['state'] !== 'accepted') return
    await adoptKit(readAccepted(known.body['kit'], asked), places)
    await rm(file, { force: true })
    state = 'restarting'
    log.info('accepted by the hub: restarting with the kit')
    restart()
  }
  const tick = () => {
    clearTimeout(timer)
    if (!request || state !== 'waiting') return
    polling = poll(request)
      .then(
        () => (problem = undefined),
        (error: unknown) => {
          if (errorText(error) !== problem) log.warn(`enrolment: ${errorText(error)}`)
          problem = errorText(error)
        },
      )
      .then(() => {
        if (isRunning) timer = setTimeout(tick, pollMs)
      })
  }
  let isRunning = false
  return {
    state() {
      if (hub !== undefined) return { state: 'enrolled', hub }
      if (!request) return { state: isAvailable ? 'idle' : 'unavailable' }
      const { hub_url, key_pem } = request
      return { state, hub_url, fingerprint: keyFingerprint(key_pem), ...(problem !== undefined && { problem }) }
    },
    async ask(line) {
      if (hub !== undefined) throw new Problem('conflict', 'This box has a kit already')
      if (!isAvailable) throw new Problem('conflict', 'This box is not set to use a kit: set SERVICE_MQTT_ENABLED=1')
      const read = readEnrolmentLine(line)
      const message = 'is not the line of the page Enrol: https://hub.example/#, then 32 hexadecimal digits'
      if (!read) throw new Problem('invalid', `The line ${message}`, [{ pointer: '/line', message }])
      const { makeRequest } = await import('#shared/node/pki/pki.ts')
      const made = { ...read, ...(await makeRequest(edge.edge_id)) }
      await makeFolder(folder, 0o700)
      await replaceFile(file, `${JSON.stringify(made)}\n`, 0o600)
      request = made
      state = 'waiting'
      problem = undefined
      await polling
      if (isRunning) tick()
    },
    async cancel() {
      request = undefined
      clearTimeout(timer)
      await rm(file, { force: true })
    },
    service: {
      name: 'enrolment',
      async start() {
        isRunning = true
        tick()
      },
      async stop() {
        isRunning = false
        clearTimeout(timer)
        await polling
      },
    },
  }
}

const reasonOf = ({ status, body: { detail } }: { status: number; body: Record<string, unknown> }): string =>
  `the hub answers ${status}: ${typeof detail === 'string' ? detail.slice(0, 300) : 'no reason given'}`

/** @throws Error when what the hub sent is not a kit for the key of this box under the authority that a person has named */
function readAccepted(sent: unknown, { key_pem, authority }: Request): Kit {
  const kit = { ...(sent as Kit), key_pem }
  const found = authorityFingerprint(kit.ca_pem)
  if (found !== authority) throw new Error('the hub has another authority than the line of its page says: copy it again')
  const complaints = checkKit(kit)
  if (complaints.length > 0) throw new Error(`the kit cannot be used: ${complaints.join('; ')}`)
  return kit
}

async function readRequest(file: string): Promise<Request | undefined> {
  const text = await unlessMissing(readFile(file, 'utf8'))
  return text === undefined ? undefined : (JSON.parse(text) as Request)
}
