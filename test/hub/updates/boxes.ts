/** Boxes whose folder of updates is real; what their system does with an update is played. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ExecutionContext } from 'ava'
import { updateOperations } from '#appliance/system/update-operations.ts'
import { openUpdates } from '#appliance/system/updates.ts'
import type { SystemReport, UpdateAnswer, UpdateRequest } from '#shared/core/update/update-wire.ts'
import { openRollouts } from '#hub/updates/rollouts.ts'
import type { BoxReport } from '#shared/core/update/rollout.ts'
import { wallClock } from '#shared/node/clock.ts'
import { silent } from '../../support/sites/priority-edge.ts'
import { folder } from '../../support/folders.ts'

export const [OLD, NEW] = ['1.0.0+aaaaaaaaaaaa', '1.1.0+bbbbbbbbbbbb']
/** Of the machine that runs this test, because the update port says what it runs on. */
export const COMPATIBLE = openUpdates('/nowhere').report()!.compatible

/** @returns bytes that end like an update: a signature with the manifest in it, and its length */
export function bundleOf(version = NEW, compatible = COMPATIBLE, size = 150_000): Buffer {
  const content = Buffer.alloc(size, version)
  const signature = Buffer.from(`\0\x04[update]\ncompatible=${compatible}\nversion=${version}\n\n[bundle]\nformat=verity\n`)
  const length = Buffer.alloc(8)
  length.writeBigUInt64BE(BigInt(signature.length))
  return Buffer.concat([content, signature, length])
}

type Outcome = 'confirmed' | 'rolled_back'

/** @param outcome what becomes of the update that the hub sends */
export function openBox(t: ExecutionContext, edge_id: string, outcome: Outcome = 'confirmed') {
  const path = folder(t)
  const updates = openUpdates(path)
  const operations = updateOperations(updates, OLD)
  let version = OLD
  const box = {
    edge_id,
    path,
    updates,
    /** Pieces that it was asked to take. */
    pieces: 0,
    online: true,
    version: () => version,
    received: Buffer.alloc(0),
    operations,
    answer: operations['system_update']!.answer as (request: UpdateRequest) => Promise<UpdateAnswer>,
    report: (): SystemReport | undefined => updates.report(),
    /** What the scripts of the image do: take the file away, install, start, judge. */
    install() {
      if (!existsSync(join(path, 'install'))) return
      box.received = readFileSync(join(path, 'bundle.raucb'))
      for (const name of ['install', 'bundle.raucb']) rmSync(join(path, name))
      if (outcome === 'confirmed') version = NEW
      const state = { state: outcome, version: NEW, slot: 'A', reason: outcome === 'confirmed' ? '' : 'no page for 25 min' }
      const log = outcome === 'confirmed' ? {} : { log: ['cannot open <page>', 'the end'] }
      writeFileSync(join(path, 'state.json'), JSON.stringify({ ...state, at: '2026-01-02T03:04:05Z', ...log }))
    },
  }
  return box
}
type TestBox = ReturnType<typeof openBox>

/** A hub that rolls out over these boxes. */
export function openFleet(t: ExecutionContext, boxes: TestBox[], path = folder(t)) {
  const reports = (): BoxReport[] =>
    boxes.map(box => ({
      ...{ site_id: 'A', edge_id: box.edge_id, version: box.version(), online: box.online, is_healthy: true },
      system: box.report(),
    }))
  const ask = async ({ edge_id }: { edge_id: string }, request: UpdateRequest) => {
    const box = boxes.find(one => one.edge_id === edge_id)!
    if (request.piece !== undefined) box.pieces++
    const answer = await box.answer(request)
    box.install()
    return answer
  }
  const rollouts = openRollouts({ folder: path, reports, ask, clock: wallClock, log: silent, lookMs: 10 })
  t.teardown(() => rollouts.service.stop())
  const begin = (bytes: Buffer) =>
    rollouts.receive(to => pipeline(Readable.from([bytes]), to), { bytes: bytes.length, by: 'admin' })
  return { rollouts, begin, path, reports }
}
