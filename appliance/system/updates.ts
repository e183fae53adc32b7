/**
 * Updates of the box's own system. This process only receives the file: a service of the system checks its signature, installs it
 * into the other slot, and writes what became of it into `state.json`.
 */
import { createWriteStream } from 'node:fs'
import { access, open, readFile, rename, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { Type, type Static } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Problem } from '#shared/core/problem.ts'
import { replaceFile, syncFolder } from '#shared/node/files.ts'
import { oneOf } from '#shared/node/http/route.ts'

/** `installed` runs from the next start, `trying` runs and is watched, `confirmed` stays. */
const UPDATE_STATES = ['installing', 'installed', 'trying', 'confirmed', 'refused', 'failed', 'rolled_back'] as const
export const UpdateState = Type.Object({
  state: oneOf(UPDATE_STATES),
  version: Type.String(),
  slot: Type.String(),
  reason: Type.String(),
  at: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT[\\d:]{8}Z$' }),
})
export type UpdateState = Static<typeof UpdateState>

/** What an update may not fill: readings need room while it lies there. */
const ROOM_BYTES = 64 * 2 ** 20
/** A root, its kernel and its hashes; larger ones do not fit a slot. */
export const BUNDLE_MAX = 512 * 2 ** 20

export type Updates = ReturnType<typeof openUpdates>

/** @param folder undefined: this process does not run on a system of ours */
export function openUpdates(folder: string | undefined) {
  let isReceiving = false
  const at = (name: string) => join(folder!, name)

  /** @returns what became of the last update; undefined when there was none, or its record cannot be read */
  async function state(): Promise<UpdateState | undefined> {
    if (folder === undefined) return undefined
    try {
      const value: unknown = JSON.parse(await readFile(at('state.json'), 'utf8'))
      return Value.Check(UpdateState, value) ? value : undefined
    } catch {
      return undefined
    }
  }

  /** @throws Problem conflict while another update is under way, workspace_full where there is no room */
  async function begin(bytes: number): Promise<void> {
    if (folder === undefined) throw new Problem('conflict', 'This appliance does not run on a system that it can update')
    const isWaiting = await access(at('install')).then(
      () => true,
      () => false,
    )
    const current = await state()
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
      await write(createWriteStream(part, { mode: 0o600 }))
      await using written = await open(part, 'r')
      await written.sync()
      await rename(part, at('bundle.raucb'))
      syncFolder(folder!)
      await replaceFile(at('install'), force ? 'force\n' : 'newer\n', 0o600)
    } finally {
      await rm(part, { force: true })
      isReceiving = false
    }
  }

  return { isAvailable: folder !== undefined, state, begin, receive }
}
