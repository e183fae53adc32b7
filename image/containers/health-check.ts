/**
 * Health check of a container and of a part that scripts/up starts: `node health-check.ts URL` or `node health-check.ts FILE` exits 0 when
 * the process works and 1 when it does not. It imports nothing of the product, so that it is small in each image.
 */
import { statSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'

/** An answer over loopback that takes longer is none. */
const ANSWER_MS = 5000
/** The file is written every 20 s. */
const AGE_MAX_MS = 60_000
/** From this status on the process says that it does not work. */
const SERVER_ERROR = 500

/**
 * @param target address on this machine, or a file that the process writes while it works
 * @returns whether the address answered without a server error, or the file is fresh
 */
export function isHealthy(target: string): Promise<boolean> {
  return /^https?:/.test(target) ? answers(new URL(target)) : Promise.resolve(isFresh(target))
}

function answers(url: URL): Promise<boolean> {
  return new Promise(resolve => {
    // The certificate is of the names by which others reach this process.
    const options = { timeout: ANSWER_MS, rejectUnauthorized: false, headers: { accept: 'application/json' } }
    const request = (url.protocol === 'https:' ? https : http).get(url, options, response => {
      response.resume()
      resolve((response.statusCode ?? SERVER_ERROR) < SERVER_ERROR)
    })
    request.on('timeout', () => request.destroy()).on('error', () => resolve(false))
  })
}

function isFresh(path: string): boolean {
  const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return Date.now() - written < AGE_MAX_MS
}

if (import.meta.main) {
  const { SERVICE_TLS_DIR: tls } = process.env
  const [target = ''] = process.argv.slice(2)
  process.exit((await isHealthy(tls ? target.replace(/^http:/, 'https:') : target)) ? 0 : 1)
}
