/** A whole site on this machine: a simulated building, an appliance that reads it, a hub that gathers. */
import { readOptions, USAGE, type Options } from './lib-start/options.ts'
import { Refusal } from './lib-start/refusal.ts'
import { findingLine, greeting } from './lib-start/report.ts'
import { type RunningSite, startSite, watch } from './lib-start/run.ts'
import { ENOUGH, summarize } from './lib-start/summary.ts'

/** `--once` answers within three minutes; this leaves time to stop in order. */
const ONCE_MS = 165_000
/** A loaded machine may miss an answer; so many in a row are no accident. */
const UNANSWERED_MAX = 5

const startedAt = Date.now()
const stopped = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopped.abort())

const say = (text: string) => process.stderr.write(`${text}\n`)
const options = readOptions(process.argv.slice(2))
if (options === 'help') {
  process.stdout.write(USAGE)
} else if ('wrong' in options) {
  say(`${options.wrong}\n${USAGE}`)
  process.exitCode = 2
} else {
  process.exitCode = await run(options).catch(error => {
    if (!(error instanceof Refusal)) throw error
    say(error.message)
    return 1
  })
}
// A library may still hold a socket; everything of ours has been stopped by now.
process.exit()

/** @returns the exit code */
async function run(options: Options): Promise<number> {
  const site = await startSite(options, stopped.signal, options.once ? say : line => process.stdout.write(`${line}\n`))
  try {
    return options.once ? await runOnce(site, options.json) : await runUntilStopped(site, options)
  } finally {
    await site.stop()
  }
}

async function runOnce(site: RunningSite, json: boolean): Promise<number> {
  const trouble = await follow(site, {
    deadline: startedAt + ONCE_MS,
    enough: count => count >= ENOUGH,
    tell: line => say(line),
  })
  if (trouble !== undefined) throw new Refusal(trouble)
  const summary = await summarize(site.hub, startedAt)
  process.stdout.write(json ? `${JSON.stringify(summary)}\n` : `${summary.findings.length} findings in ${summary.seconds} s\n`)
  return 0
}

async function runUntilStopped(site: RunningSite, options: Options): Promise<number> {
  process.stdout.write(greeting(site, options))
  const trouble = await follow(site, { tell: line => process.stdout.write(`${line}\n`) })
  if (trouble !== undefined && !stopped.signal.aborted) throw new Refusal(trouble)
  return 0
}

type Following = { tell: (line: string) => void; deadline?: number; enough?: (findings: number) => boolean }

/**
 * Prints every finding as it reaches the hub, until there are enough, time is up, a part fails or somebody stops it.
 *
 * @returns why it ended too early; undefined when there were enough
 */
async function follow(
  site: RunningSite,
  { tell, deadline = Infinity, enough = () => false }: Following,
): Promise<string | undefined> {
  const seen = new Set<string>()
  let trouble: string | undefined
  void site.broken.then(how => {
    trouble ??= how
  })
  stopped.signal.addEventListener('abort', () => {
    trouble ??= 'Stopped'
  })
  let unanswered = 0
  await watch(
    () => trouble !== undefined,
    async () => {
      const findings = await site.hub.findings().catch((error: Error) => {
        if (++unanswered === UNANSWERED_MAX) trouble ??= `The hub does not answer: ${error.message}`
      })
      if (findings) unanswered = 0
      for (const finding of findings ?? []) {
        if (!seen.has(finding.finding_id)) tell(findingLine(finding, site.now()))
        seen.add(finding.finding_id)
      }
      if (Date.now() > deadline)
        trouble ??= `The hub shows ${seen.size} findings after ${ONCE_MS / 1000} s; ${ENOUGH} were awaited`
      return enough(seen.size)
    },
  )
  return enough(seen.size) ? undefined : trouble
}
