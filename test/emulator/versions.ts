/** Other versions of the image that was built, as updates: the same packages under another version, with what a test changes. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packKernel, packRoot } from '#image/build/boot.ts'
import { makeSigningKeys, packBundle } from '#image/build/bundle.ts'
import { TARGETS } from '#image/build/target.ts'
import { BUILT } from '#scripts/lib-emulator/built-image.ts'

/** What the boxes said in the last run. */
export const CONSOLE_LOG = join(BUILT, 'console.log')
export const FIRST_BOOT_LOG = join(BUILT, 'console-first-boot.log')
export const STICK_UPDATE_LOG = join(BUILT, 'console-stick-update.log')
export const NETWORK_LOG = join(BUILT, 'console-network.log')
export const STICK_LOG = join(BUILT, 'console-stick.log')
export const MOMENTS_LOG = join(BUILT, 'console-moments.log')
export const UPDATE_MOMENTS_LOG = join(BUILT, 'console-update-moments.log')
export const FULL_DISK_LOG = join(BUILT, 'console-full-disk.log')
const WORK = join(BUILT, 'work')
const SECONDS = 1_700_000_000

/** The version of the image. */
export const builtVersion = (): string => readFileSync(join(WORK, 'root/opt/plenum/VERSION'), 'utf8').trim()

/** @returns the built version with another patch number */
export function versionAfter(version: string, by: number): string {
  const [, front, patch, rest] = /^(\d+\.\d+\.)(\d+)(\+.*)$/.exec(version)!
  return `${front}${Number(patch) + by}${rest}`
}

type Change = { file: string; from?: RegExp; to: string }

/** Shortens how long a version is watched. */
export const WATCHED_SHORTLY: Change = { file: 'usr/lib/plenum/confirm', from: /^healthy_secs=\d+$/m, to: 'healthy_secs=20' }

/**
 * @param folder in which the bundle is made
 * @param changes of files of the root: a pattern replaced, or the whole file
 * @returns the file of the bundle
 */
export function packVersion(folder: string, version: string, changes: readonly Change[] = []): string {
  const work = join(folder, version)
  mkdirSync(work, { recursive: true })
  const root = join(work, 'root')
  execFileSync('cp', ['-al', join(WORK, 'root'), root])
  for (const { file, from, to } of [{ file: 'opt/plenum/VERSION', to: `${version}\n` }, ...changes]) {
    const path = join(root, file)
    const [text, { mode }] = [readFileSync(path, 'utf8'), statSync(path)]
    if (from && !from.test(text)) throw new Error(`${file} has no ${from}`)
    rmSync(path) // It is the same file as the build's.
    writeFileSync(path, from ? text.replace(from, to) : to, { mode })
  }
  const target = TARGETS.arm64
  const verified = packRoot(root, join(work, 'root.img'), SECONDS)
  const kernel = packKernel(join(work, 'kernel.img'), verified, {
    root,
    kernel: join(WORK, 'kernel'),
    work,
    target,
    seconds: SECONDS,
  })
  const file = join(folder, `${version}.raucb`)
  packBundle(file, { root: verified.file, kernel, arch: 'arm64', version, keys: join(BUILT, 'keys'), work })
  rmSync(work, { recursive: true })
  return file
}

/** @returns the file of a bundle for this box that another authority has signed */
export function packForeign(folder: string, version: string): string {
  const work = join(folder, 'foreign')
  const keys = join(work, 'keys')
  makeSigningKeys(keys)
  const image = join(work, 'image')
  writeFileSync(image, randomBytes(2 ** 20))
  const file = join(folder, 'foreign.raucb')
  packBundle(file, { root: image, kernel: image, arch: 'arm64', version, keys, work })
  return file
}

/** @returns a copy of a bundle in which one byte of its contents is another */
export function tampered(bundle: string): string {
  const file = `${bundle}.tampered`
  copyFileSync(bundle, file)
  const bytes = readFileSync(file)
  const at = Math.floor(bytes.length / 2)
  bytes[at] = bytes[at]! ^ 0xff
  writeFileSync(file, bytes)
  return file
}
