/** Boxes that ask this hub for a certificate and wait for a person. Anybody can ask, so everything is bounded. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { EnrolmentRequest, EnrolmentState } from '#shared/core/auth/enrolment.ts'
import { Problem } from '#shared/core/problem.ts'
import { DAY } from '#shared/core/time.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import { replaceFile } from '#shared/node/files.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import { requestFingerprint, verifyRequest } from '#shared/node/pki/pki.ts'

/** A kit without its secrets: everybody may have it. */
export type PublicKit = Pick<Kit, 'ca_pem' | 'cert_pem' | 'edge' | 'acl'>
/** Times are ms since 1970 UTC. The fingerprint of its key is the name of a box until it has one. */
export type PendingBox = EnrolmentRequest & {
  fingerprint: string
  /** Network from which it asked. */
  network: string
  asked_at: number
  state: EnrolmentState
  decided_at: number | null
  kit?: PublicKit
}

/** Boxes that wait at once, of one network and of one tenant, and those of all tenants, whose lists are one file. */
const PER_NETWORK_MAX = 10
const WAITING_MAX = 50
const ALL_MAX = 500
/** Decided ones that are remembered; the oldest are forgotten first. */
const DECIDED_MAX = 200
/** A box that was not decided on, or has not fetched its certificate, for so long is forgotten; it may ask again. */
const KEPT_MS = 7 * DAY
const FILE = 'pending.json'

export type PendingBoxes = {
  /**
   * Notes a request; one that is known is answered with its state.
   *
   * @throws Problem invalid for a request that cannot be used, too_many_boxes when others wait
   */
  ask(request: EnrolmentRequest, network: string): Promise<PendingBox>
  /** @throws Problem unknown_box */
  get(fingerprint: string): Promise<PendingBox>
  /** The newest first. */
  waiting(isOurs: IsOurs): Promise<PendingBox[]>
  /** Decides on a box that waits. @throws Problem unknown_box, conflict */
  decide(fingerprint: string, decision: Decision): Promise<PendingBox>
}
/** Whether the people of a page decide on the boxes that have asked those of a tenant; undefined stands for the hub's own. */
export type IsOurs = (tenant_id: string | undefined) => boolean
/** `issue` makes the kit; without it the box is rejected. */
type Decision = { isOurs: IsOurs; issue?: (box: PendingBox) => Promise<PublicKit> }

/** @param dir folder of the authority, in which the list is stored; undefined on a hub that has none */
export function createPendingBoxes(dir: string | undefined, now: () => number): PendingBoxes {
  const inTurn = createSerialQueue()
  let held: PendingBox[] | undefined
  const read = async () => {
    held ??= dir === undefined ? [] : await readList(join(dir, FILE))
    return held.filter(box => now() - (box.decided_at ?? box.asked_at) < KEPT_MS)
  }
  const write = async (boxes: PendingBox[]) => {
    const waiting = boxes.filter(({ state }) => state === 'pending')
    const decided = boxes.filter(({ state }) => state !== 'pending').slice(-DECIDED_MAX)
    const next = [...decided, ...waiting]
    await replaceFile(join(dir!, FILE), `${JSON.stringify(next)}\n`, 0o600)
    held = next
  }
  const find = (boxes: PendingBox[], fingerprint: string) => {
    const box = boxes.find(one => one.fingerprint === fingerprint)
    if (!box) throw new Problem('unknown_box', `No box with the fingerprint ${fingerprint} waits here`)
    return box
  }
  return {
    ask: (request, network) =>
      inTurn(async () => {
        const fingerprint = await readFingerprint(request.csr_pem)
        const boxes = await read()
        const known = boxes.find(one => one.fingerprint === fingerprint)
        if (known) return known
        const waiting = boxes.filter(({ state }) => state === 'pending')
        const near = waiting.filter(box => box.network === network)
        const alike = waiting.filter(box => box.tenant_id === request.tenant_id)
        if (waiting.length >= ALL_MAX || alike.length >= WAITING_MAX || near.length >= PER_NETWORK_MAX) {
          const message = `${alike.length} boxes wait to be accepted or rejected, ${near.length} of this network`
          throw new Problem('too_many_boxes', message)
        }
        const box = { ...request, fingerprint, network, asked_at: now(), state: 'pending' as const, decided_at: null }
        await write([...boxes, box])
        return box
      }),
    get: async fingerprint => find(await read(), fingerprint),
    waiting: async isOurs =>
      (await read()).filter(({ state, tenant_id }) => state === 'pending' && isOurs(tenant_id)).toReversed(),
    decide: (fingerprint, { isOurs, issue }) =>
      inTurn(async () => {
        const box = find(
          (await read()).filter(({ tenant_id }) => isOurs(tenant_id)),
          fingerprint,
        )
        if (box.state !== 'pending') throw new Problem('conflict', `the box was ${box.state} already`)
        const kit = await issue?.(box)
        const decided = {
          ...box,
          state: kit ? ('accepted' as const) : ('rejected' as const),
          decided_at: now(),
          ...(kit && { kit }),
        }
        await write([...(await read()).filter(one => one !== box), decided])
        return decided
      }),
  }
}

async function readFingerprint(csr_pem: string): Promise<string> {
  try {
    await verifyRequest(csr_pem)
    return requestFingerprint(csr_pem)
  } catch (error) {
    const { message } = error as Error
    throw new Problem('invalid', message, [{ pointer: '/csr_pem', message }])
  }
}

async function readList(path: string): Promise<PendingBox[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '[]'
    throw error
  })
  return JSON.parse(text) as PendingBox[]
}
