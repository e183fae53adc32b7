/**
 * Updates of the box's own system. This process only receives the file: a service of the system checks its signature, installs it
 * into the other slot, and writes what became of it into `state.json`.
 */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, readFileSync } from 'node:fs'
import { access, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Value } from '@sinclair/typebox/value'
import { Problem } from '#shared/core/problem.ts'
import { type SystemReport, type UpdateRequest, UpdateState } from '#shared/core/update/update-wire.ts'
import { replaceFile, syncFolder } from '#shared/node/files.ts'
import { HealthBefore } from '../core/system/since-update.ts'

/** What an update may not fill: readings need room while it lies there. */
const ROOM_BYTES = 64 * 2 ** 20
const PRIVATE = 0o600
/** A file that the hub sends in pieces, by the hash of the whole. */
const HUB_PART = /^hub-[0-9a-f]{64}\.part$/
/** Kind of machine as RAUC's configuration of the image names it. */
const COMPATIBLE = `plenum-${process.arch === 'x64' ? 'amd64' : process.arch}`

/** The power may have been cut before the new version was told that it has started. */
const ON_TRIAL = new Set<UpdateState['state']>(['installing', 'installed', 'trying'])

export type Updates = ReturnType<typeof openUpdates>

/** @param folder undefined: this process does not run on a system of ours */
export function openUpdates(folder: string | undefined) {
  let isReceiving = false
  const at = (name: string) => join(folder!, name)

  /** @returns what became of the last update; undefined when there was none, or its record cannot be read */
  function state(): UpdateState | undefined {
    if (folder === undefined) return undefined
    try {
      const value: unknown = JSON.parse(readFileSync(at('state.json'), 'utf8'))
      return Value.Check(UpdateState, value) ? value : undefined
    } catch {
      return undefined
    }
  }

  /**
   * @param version the one that runs
   * @returns what the version before said about its health, while `version` is on trial; undefined at all other times
   */
  function healthBefore(version: string): HealthBefore | undefined {
    const current = state()
    if (current?.version !== version || !ON_TRIAL.has(current.state)) return undefined
    try {
      const value: unknown = JSON.parse(readFileSync(at('before.json'), 'utf8'))
      return Value.Check(HealthBefore, value) ? value : { checks: {} }
    } catch {
      // It was not well before, or its version kept nothing: only what is demanded at any time is demanded.
      return { checks: {} }
    }
  }

  /** Whether an update is installed or tried now. */
  function isUnderWay(): boolean {
    const current = state()
    return current !== undefined && ON_TRIAL.has(current.state)
  }

  /** Notes what a version on trial lacks, for the reason that page, hub and USB stick show when it is left. */
  const noteTrial = (words: string): Promise<void> => replaceFile(at('trial.txt'), `${words}\n`, PRIVATE)

  /** @throws Problem conflict while another update is under way, workspace_full where there is no room */
  async function begin(bytes: number): Promise<void> {
    if (folder === undefined) throw new Problem('conflict', 'This appliance does not run on a system that it can update')
    const isWaiting = await access(at('install')).then(
      () => true,
      () => false,
    )
    const current = state()
    if (isReceiving || isWaiting || current?.state === 'installing' || current?.state === 'installed') {
      throw new Problem('conflict', 'Another update is under way')
    }
    if (current?.state === 'trying')
      throw new Problem('conflict', `Version ${current.version} has started and is not confirmed yet`)
    const { bavail, bsize } = await statfs(folder)
    if (bavail * bsize < bytes + ROOM_BYTES) {
      throw new Problem(
        'workspace_full',
        `The update has ${bytes} bytes, and ${bavail * bsize} are free; ${ROOM_BYTES} must stay free`,
      )
    }
  }

  /**
   * Receives an update and asks the system to install it. Durable when resolved.
   *
   * @param write writes the file and ends the stream
   * @param bytes announced length
   * @param force also a version older than the one that runs
   * @throws Problem as `begin`; nothing of the file is left then
   */
  async function receive(
    write: (to: Writable) => Promise<void>,
    { bytes, force }: { bytes: number; force: boolean },
  ): Promise<void> {
    await begin(bytes)
    isReceiving = true
    const part = at('bundle.part')
    try {
      await write(createWriteStream(part, { mode: PRIVATE }))
      await handOver(part, force)
    } finally {
      await rm(part, { force: true })
      isReceiving = false
    }
  }

  /** Gives a whole file to the system; the request to install it is written last. */
  async function handOver(part: string, force: boolean): Promise<void> {
    await using written = await open(part, 'r')
    await written.sync()
    await rename(part, at('bundle.raucb'))
    syncFolder(folder!)
    await replaceFile(at('install'), force ? 'force\n' : 'newer\n', PRIVATE)
  }

  /**
   * Takes a piece of an update from the hub. What is there of the file outlasts a restart; a piece that does not go on where it ends
   * is not taken. When the file is whole and its hash is right, the system is asked to install it, an older version never.
   *
   * @returns bytes that are there; 0 again where the whole file had another hash
   * @throws Problem as `begin`, and bad_request for a piece beyond the announced length
   */
  async function receivePiece({ sha256, bytes, offset, piece }: UpdateRequest): Promise<number> {
    const name = `hub-${sha256}.part`
    const before = folder === undefined ? 0 : await sizeOf(at(name))
    await begin(bytes - before)
    isReceiving = true
    try {
      for (const other of await readdir(folder!)) if (HUB_PART.test(other) && other !== name) await rm(at(other))
      if (piece === undefined || offset !== before) return before
      const content = Buffer.from(piece, 'base64')
      const received = before + content.length
      if (received > bytes) throw new Problem('bad_request', `/piece ends at byte ${received}, and the file has ${bytes}`)
      await using file = await open(at(name), 'a', PRIVATE)
      await file.writeFile(content)
      if (received < bytes) return received
      if ((await hashOf(at(name))) !== sha256) {
        await rm(at(name))
        return 0
      }
      await handOver(at(name), false)
      return bytes
    } finally {
      isReceiving = false
    }
  }

  /** @returns what the status tells the hub; undefined where the system is not ours */
  const report = (): SystemReport | undefined =>
    folder === undefined ? undefined : { compatible: COMPATIBLE, last: state() ?? null }

  return { isAvailable: folder !== undefined, state, isUnderWay, report, healthBefore, noteTrial, begin, receive, receivePiece }
}

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  )

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
