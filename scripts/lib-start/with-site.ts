/** A simulated site with a browser, for scripts that look at its pages. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import { openChromium } from '../lib/chromium.ts'
import { Refusal } from './refusal.ts'
import { type RunningSite, startSite } from './run.ts'

const WAIT_MS = 15 * 60_000
const LOOK_MS = 5000

type SiteWork = {
  /** Where the site of an earlier start goes on, and the first of its ports. */
  options: { data: string | undefined; portBase: number }
  /** Whether the findings at the hub are enough to begin with. @param rule_ids one for each */
  isReady(rule_ids: string[]): boolean
  /** What has not come where they never are. */
  lacks: string
  work(browser: Browser, site: RunningSite): Promise<void>
}

/**
 * Starts the site of `npm start`, waits for its findings, works, and ends everything and this process: with 1 where the site does not
 * start or nothing comes. A signal ends it too.
 */
export async function withSite({ options, isReady, lacks, work }: SiteWork): Promise<never> {
  const stopped = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopped.abort())
  try {
    const site = await startSite({ ...options, speed: 120, once: false, json: false }, stopped.signal)
    const chromium = await openChromium()
    try {
      for (const end = Date.now() + WAIT_MS; ; await wait(LOOK_MS)) {
        const findings = await site.hub.findings()
        if (stopped.signal.aborted || isReady(findings.map(({ rule_id }) => rule_id))) break
        if (Date.now() > end) throw new Refusal(`${lacks} reached the hub within ${WAIT_MS / 60_000} min`)
      }
      if (!stopped.signal.aborted) await work(chromium.browser, site)
    } finally {
      await chromium.close()
      await site.stop()
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  }
  // A library may still hold a socket; everything of ours has been stopped by now.
  process.exit()
}
