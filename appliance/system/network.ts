/**
 * Network settings of a box whose operating system is ours. This process only asks: a service of the system starts the box with them,
 * and sets the ones before back when nobody keeps them. What it does is in `image/root/usr/lib/plenum/network`.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TSchema, Static } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Problem } from '#shared/core/problem.ts'
import { NetworkTrial } from '#shared/core/system/network-trial.ts'
import { type NetworkWish, readSystem, type SystemSettings, withWish } from '#shared/core/system/system-file.ts'
import { replaceFile } from '#shared/node/files.ts'

const PRIVATE = 0o600

export type BoxNetwork = {
  /** Whether the settings can be changed here. */
  isAvailable: boolean
  /** Those with which the box has started; undefined before the system has written them. */
  current(): SystemSettings | undefined
  /** What became of the last wish; undefined where there was none. */
  trial(): NetworkTrial | undefined
  /** Whether the box is about to start with a wish. */
  isAsked(): boolean
  /**
   * Asks the system to start the box with these settings. Durable when resolved.
   *
   * @throws Problem invalid with every complaint, conflict while the box tries others or an update
   */
  ask(wish: NetworkWish): Promise<void>
  /** Keeps the settings that are tried. @throws Problem conflict where none are */
  keep(): Promise<void>
}

/**
 * @param folder undefined: this process does not run on a system of ours
 * @param isUpdating whether an update is being installed or tried, which counts the starts of the box
 */
export function openNetwork(folder: string | undefined, isUpdating: () => boolean): BoxNetwork {
  const at = (name: string) => join(folder!, name)
  const readAs = <S extends TSchema>(name: string, schema: S): Static<S> | undefined => {
    try {
      const value: unknown = JSON.parse(readFileSync(at(name), 'utf8'))
      return Value.Check(schema, value) ? value : undefined
    } catch {
      return undefined
    }
  }
  const network: BoxNetwork = {
    isAvailable: folder !== undefined,
    current() {
      if (folder === undefined || !existsSync(at('current.json'))) return undefined
      const read = readSystem(readFileSync(at('current.json'), 'utf8'))
      return read.ok ? read.system : undefined
    },
    trial: () => (folder === undefined ? undefined : readAs('state.json', NetworkTrial)),
    isAsked: () => folder !== undefined && existsSync(at('wanted.json')),
    async ask(wish) {
      const current = network.current()
      if (current === undefined) throw new Problem('conflict', 'This appliance does not run on a system whose network it can set')
      if (network.isAsked() || network.trial()?.state === 'trying')
        throw new Problem(
          'conflict',
          'The box tries other settings of the network: keep them first, or wait until they are set back',
        )
      if (isUpdating()) throw new Problem('conflict', 'The box tries an update: wait until it is confirmed')
      const wished = withWish(current, wish)
      if (!wished.ok) throw new Problem('invalid', wished.complaints.join('; '))
      await replaceFile(at('wanted.json'), `${JSON.stringify(wish)}\n`, PRIVATE)
    },
    async keep() {
      if (network.trial()?.state !== 'trying') throw new Problem('conflict', 'The box tries no settings of the network')
      await replaceFile(at('keep'), '', PRIVATE)
    },
  }
  return network
}
