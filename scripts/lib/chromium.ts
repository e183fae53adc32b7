/** A headless Chromium: the one that `CHROMIUM` names, else the system's, else the packaged one. Never a silent skip. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createBrotliDecompress } from 'node:zlib'
import { type Browser, chromium } from 'playwright-core'

const SYSTEM = '/usr/bin/chromium'
const LAUNCH_MS = 60_000

export type OpenBrowser = { browser: Browser; close(): Promise<void> }

export async function openChromium(): Promise<OpenBrowser> {
  const named = process.env['CHROMIUM'] ?? (existsSync(SYSTEM) ? SYSTEM : undefined)
  if (named === undefined) return openPackaged()
  const browser = await chromium.launch({ executablePath: named, headless: true, timeout: LAUNCH_MS })
  return { browser, close: () => browser.close() }
}

/** The packaged one brings the libraries that Debian may lack; they are unpacked into a folder of their own. */
async function openPackaged(): Promise<OpenBrowser> {
  if (process.arch !== 'x64') throw new Error('there is no packaged Chromium for this machine: apt-get install chromium')
  const { default: packaged } = await import('@sparticuz/chromium')
  const folder = mkdtempSync(join(tmpdir(), 'plenum-chromium-'))
  const root = dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium'))
  const tar = spawn('tar', ['x', '-C', folder], { stdio: ['pipe', 'inherit', 'inherit'] })
  createReadStream(libraries(root)).pipe(createBrotliDecompress()).pipe(tar.stdin)
  await once(tar, 'close')
  const env = { ...process.env, LD_LIBRARY_PATH: join(folder, 'lib') } as Record<string, string>
  const executablePath = await packaged.executablePath()
  const browser = await chromium.launch({ executablePath, args: packaged.args, headless: true, timeout: LAUNCH_MS, env })
  const close = async () => {
    await browser.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { browser, close }
}

/** The entry of the package is at an unknown depth below the folder `bin`'s parent. */
function libraries(from: string): string {
  for (let folder = from; folder !== dirname(folder); folder = dirname(folder)) {
    const path = join(folder, 'bin', 'al2023.tar.br')
    if (existsSync(path)) return path
  }
  throw new Error(`the packaged Chromium has no libraries above ${from}`)
}
