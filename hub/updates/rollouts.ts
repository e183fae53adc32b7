/** The roll-out of a hub: its file and its state on the disk, and the loop that carries it out. */
import { createWriteStream, existsSync, readFileSync } from 'node:fs'
import { rename, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import type { Logger } from 'pino'
import { errorText } from '#shared/core/error-text.ts'
import type { Clock } from '#shared/core/ports.ts'
import { Problem } from '#shared/core/problem.ts'
import { SECOND } from '#shared/core/time.ts'
import {
  advanceRollout,
  type BoxReport,
  nextBoxes,
  type Rollout,
  type RolloutBox,
  waitAgain,
  withBox,
  stoppedBy,
} from '#shared/core/update/rollout.ts'
import type { UpdateAnswer, UpdateRequest } from '#shared/core/update/update-wire.ts'
import { makeFolder, replaceFile } from '#shared/node/files.ts'
import type { Service } from '#shared/node/service.ts'
import { readBundle } from './bundle-file.ts'
import { sendUpdate } from './send-update.ts'

const LOOK_MS = 15 * SECOND
/** What an update may not fill: messages of edges need room. */
const ROOM_BYTES = 256 * 2 ** 20
const PRIVATE = 0o600
const PRIVATE_FOLDER = 0o700

type RolloutOptions = {
  /** Holds `update.raucb` and `rollout.json`; made when it is needed. */
  folder: string
  /** What the hub knows of its boxes now. */
  reports: () => BoxReport[]
  /** Asks a box one request. @throws Problem of the box or of the way to it */
  ask: (box: { site_id: string; edge_id: string }, request: UpdateRequest) => Promise<UpdateAnswer>
  clock: Clock
  log: Logger
  lookMs?: number
}
export type Rollouts = ReturnType<typeof openRollouts>

export function openRollouts({ folder, reports, ask, clock, log, lookMs = LOOK_MS }: RolloutOptions) {
  const [bundle, part, file] = ['update.raucb', 'update.part', 'rollout.json'].map(name => join(folder, name)) as [
    string,
    string,
    string,
  ]
  let current = readRollout(file, log)
  let isReceiving = false
  let sending = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let saving = Promise.resolve()

  /** Written in the order of the changes; a failure is shown, and the next change writes again. */
  function become(next: Rollout): Promise<void> {
    const text = `${JSON.stringify(next, undefined, 2)}\n`
    const hasChanged = text !== `${JSON.stringify(current, undefined, 2)}\n`
    current = next
    if (!hasChanged) return saving
    saving = saving.then(() => replaceFile(file, text, PRIVATE)).catch(error => log.error({ err: error }, 'roll-out not saved'))
    return saving
  }

  async function look(): Promise<void> {
    if (!current || current.state === 'finished') return
    const before = current.state
    const known = reports()
    const next = advanceRollout(current, known, clock.now())
    if (before === 'running' && next.state === 'stopped') {
      sending.abort()
      log.warn({ version: next.version }, `roll-out stopped: ${next.reason}`)
    }
    if (before === 'running' && next.state === 'finished') log.info({ version: next.version }, 'roll-out finished')
    const boxes = nextBoxes(next, known, clock.now())
    const started = boxes.reduce((rollout, box) => {
      const last = known.find(one => one.site_id === box.site_id && one.edge_id === box.edge_id)?.system?.last
      return withBox(rollout, box, { state: 'sending', since: clock.now(), reason: '', before: last?.at ?? null })
    }, next)
    await become(started)
    for (const box of boxes) void send(box, started)
  }

  async function send(box: RolloutBox, { sha256, bytes }: Rollout): Promise<void> {
    const outcome = await sendUpdate(bundle, { sha256, bytes }, request => ask(box, request), sending.signal).then(
      () => ({ state: 'installing' as const, reason: '' }),
      error => ({ state: 'waiting' as const, reason: errorText(error) }),
    )
    if (current?.sha256 === sha256) await become(withBox(current, box, { ...outcome, since: clock.now() }))
  }

  /** @throws Problem conflict while a roll-out goes on, workspace_full where there is no room */
  async function begin(bytes: number): Promise<void> {
    if (isReceiving || current?.state === 'running') throw new Problem('conflict', 'A roll-out goes on; stop it first')
    await makeFolder(folder, PRIVATE_FOLDER)
    const { bavail, bsize } = await statfs(folder)
    if (bavail * bsize < bytes + ROOM_BYTES)
      throw new Problem('workspace_full', `The update has ${bytes} bytes, and ${bavail * bsize} are free`)
  }

  /**
   * Receives an update and begins its roll-out.
   *
   * @param write writes the file and ends the stream
   * @throws Problem as `begin`, invalid for a file that is no update, conflict where no box is of its kind
   */
  async function receive(write: (to: Writable) => Promise<void>, { bytes, by }: { bytes: number; by: string }): Promise<Rollout> {
    await begin(bytes)
    isReceiving = true
    try {
      await write(createWriteStream(part, { mode: PRIVATE }))
      const found = await readBundle(part)
      if (!reports().some(({ system }) => system?.compatible === found.compatible))
        throw new Problem('conflict', `No box of this hub has said that it is a ${found.compatible}`)
      await rename(part, bundle)
      sending = new AbortController()
      const begun: Rollout = {
        ...found,
        started_at: clock.now(),
        started_by: by,
        state: 'running',
        reason: '',
        boxes: [],
      }
      await become(begun)
      await look()
      return begun
    } finally {
      await rm(part, { force: true })
      isReceiving = false
    }
  }

  /** @throws Problem conflict when none goes on */
  async function stop(by: string): Promise<void> {
    if (current?.state !== 'running') throw new Problem('conflict', 'No roll-out goes on')
    sending.abort()
    await become({ ...current, state: 'stopped', reason: stoppedBy(by) })
  }

  /** Goes on with a roll-out that was stopped; boxes that failed are tried again. @throws Problem conflict when none was stopped */
  async function resume(): Promise<void> {
    if (current?.state !== 'stopped') throw new Problem('conflict', 'No roll-out was stopped')
    if (!existsSync(bundle)) throw new Problem('conflict', 'The file of the update is gone; send it again')
    sending = new AbortController()
    await become({ ...waitAgain(current, ['failed', 'sending'], clock.now()), state: 'running', reason: '' })
    await look()
  }

  const service: Service = {
    name: 'roll-out',
    async start() {
      if (current) current = waitAgain(current, ['sending'], clock.now())
      timer = setInterval(() => void look().catch(error => log.error({ err: error }, 'roll-out not looked at')), lookMs)
      timer.unref()
    },
    async stop() {
      clearInterval(timer)
      sending.abort()
      await saving
    },
  }
  return { current: () => current, begin, receive, stop, resume, service }
}

/** @returns the roll-out that the hub ended with; undefined where there was none, or its file cannot be read */
function readRollout(file: string, log: Logger): Rollout | undefined {
  if (!existsSync(file)) return undefined
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Rollout
  } catch (error) {
    log.error({ err: error, file }, 'roll-out cannot be read: a new one can be begun')
    return undefined
  }
}
