/** The file that somebody sends to those who help: what the process and its machine are, and how they are. */
import { cpus, freemem, loadavg, networkInterfaces, totalmem } from 'node:os'
import { redact } from '#shared/core/redact.ts'
import { formatInstant } from '#shared/core/time.ts'
import { zipTexts } from '#shared/node/zip.ts'
import { healthOf } from './api/health.ts'
import type { CentralContext } from './context.ts'

/** Addresses of the machine, without loopback. */
export const machineAddresses = (): { name: string; address: string; mac: string }[] =>
  Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) =>
    addresses.flatMap(({ address, mac, internal }) => (internal ? [] : [{ name, address, mac }])),
  )

/** Runs that the file of diagnostics lists. */
const RUNS_LISTED = 20

/**
 * Everything that somebody elsewhere needs to say what is wrong: health, settings, log, edges, runs and machine. It has no
 * readings and no secret.
 *
 * @returns a ZIP archive
 */
export async function diagnosticsFile(context: CentralContext): Promise<Buffer> {
  const { inspection, service, version, startedAt, clock, edges, runs } = context
  const { effective, secrets, recent, sources } = inspection
  const parts: Record<string, unknown> = {
    'about.json': {
      ...{ service, version, node: process.version, platform: process.platform, architecture: process.arch },
      ...{ made_at: formatInstant(clock.now()), started_at: formatInstant(startedAt) },
    },
    'health.json': await healthOf(context),
    'settings.json': effective,
    'machine.json': {
      ...{ cores: cpus().length, load: loadavg(), memory_bytes: totalmem(), free_bytes: freemem() },
      ...{ process: process.memoryUsage(), addresses: machineAddresses() },
    },
    'storage.json': await context.storage(),
    'edges.json': edges.list(),
    'runs.json': runs.list({ limit: RUNS_LISTED }),
    ...Object.fromEntries(Object.entries(sources).map(([name, read]) => [name, read()])),
  }
  const texts = Object.entries(parts).map(([name, value]) => ({ name, text: `${JSON.stringify(value, undefined, 2)}\n` }))
  const log = { name: 'log.jsonl', text: `${recent.read().lines.join('\n')}\n` }
  return zipTexts([...texts, log].map(({ name, text }) => ({ name, text: redact(text, secrets) })))
}
