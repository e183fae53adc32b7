/** USB sticks of the tests: files with a partition and a file system of their own, which a box in the emulator takes. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { resultFile } from '#shared/core/system/stick-files.ts'
import type { Box } from '#scripts/lib-emulator/box.ts'

const RESULT_MS = 1_800_000
/** An update fits. */
const STICK_MIB = 256
/** Where the file system of a stick begins, for mtools. */
const PARTITION = '@@1M'

/** @param folder in which the files lie */
export function sticksOf(box: Box, folder: string) {
  /** @returns the file of a stick that has these files, on a partition that is called as the data of the box */
  function makeStick(name: string, files: Record<string, string | Buffer>): string {
    const image = join(folder, `${name}.img`)
    execFileSync('truncate', ['-s', `${STICK_MIB}M`, image])
    execFileSync('sgdisk', ['--new=1:2048:0', '--change-name=1:data', image])
    execFileSync('mkfs.vfat', ['--offset=2048', '-n', 'PLENUM', image, String((STICK_MIB - 2) * 1024)], { stdio: 'pipe' })
    for (const [file, content] of Object.entries(files)) {
      const path = join(folder, file)
      writeFileSync(path, content)
      execFileSync('mcopy', ['-i', `${image}${PARTITION}`, path, `::/${file}`])
    }
    return image
  }

  /** Plugs a stick in. @returns what became of it, which the box writes onto it */
  async function taken(image: string, name: string): Promise<string> {
    await box.plugIn(image)
    return resultWith(/^/, image, name)
  }

  /** @returns what the box has written onto a stick, when that fits */
  async function resultWith(pattern: RegExp, image: string, name: string): Promise<string> {
    for (const end = Date.now() + RESULT_MS; Date.now() < end; await sleep(2000)) {
      const result = resultOn(image, name)
      if (result !== undefined && pattern.test(result)) return result
    }
    throw new Error(`${resultFile(name)} is ${resultOn(image, name)}; the console: ${box.console.slice(-2000)}`)
  }

  return { makeStick, taken, resultWith }
}

function resultOn(image: string, name: string): string | undefined {
  try {
    return execFileSync('mtype', ['-i', `${image}${PARTITION}`, `::/${resultFile(name)}`], { encoding: 'utf8', stdio: 'pipe' })
  } catch {
    return undefined
  }
}
