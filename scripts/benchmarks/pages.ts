/**
 * `scripts/bench pages`: every page of an appliance and of a hub with 500 equipment and 5,200 points: CPU of the server, bytes
 * compressed, and what a phone on 3G with a processor slowed four times sees. `ratio` is the CPU of the slowest page over 60 ms.
 * `--no-browser` leaves out the phone, `--only TEXT` all pages but those whose address contains it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openChromium } from '#scripts/lib/chromium.ts'
import { type ForkedServer, forkServer } from '#scripts/lib/forked-server.ts'
import { type BrowserFigures, measureInBrowser } from './lib-pages/browser-figures.ts'

const CHILD = new URL('./lib-pages/pages-child.ts', import.meta.url)
const LIMIT_MS = 60
const WARM_UP = 5
const REQUESTS = 20
const HOME = { bytes: 60_000, paint_ms: 1000 }
const BUILDING = '/buildings/campus'
const TREND_POINTS = ['sa_t', 'sa_t_sp', 'oa_t', 'ma_t'].map(role => `AHU-0.${role}`).join(',')
const PATHS = {
  appliance: [
    ...['/', '/home/tiles', '/faults', '/faults?group=equipment&days=30', '/faults?lane=overrides', '/faults/finding-0'],
    ...[
      BUILDING,
      `${BUILDING}?kind=vav`,
      `${BUILDING}/tree?of=AHU-0`,
      `${BUILDING}/figures`,
      `${BUILDING}/equipment/AHU-0`,
      `${BUILDING}/points/AHU-0.sa_t`,
    ],
    ...[
      '/trends',
      `/trends?building=campus&points=${TREND_POINTS}`,
      '/search?q=AHU-1',
      '/setup',
      '/points',
      '/coverage',
      '/commission',
      '/analytics/operations',
      '/params',
    ],
    ...['/baselines', '/quantities', '/runs', '/import', '/alerts', '/users', '/audit', '/backups'],
  ],
  hub: ['/', '/fleet/part', '/faults', '/buildings'],
}
type Product = keyof typeof PATHS
type PageFigures = { cpu_ms: number; gzip_bytes: number } & Partial<BrowserFigures>

const { values } = parseArgs({
  options: { json: { type: 'boolean' }, 'no-browser': { type: 'boolean' }, only: { type: 'string', default: '' } },
})
const say = (line: string) => values.json || process.stdout.write(`${line}\n`)
const round = (n: number): number => Math.round(n * 10) / 10

const figures: Record<string, PageFigures> = {}
for (const product of ['appliance', 'hub'] as const) await measure(product)
const slowest = Object.entries(figures).toSorted(([, a], [, b]) => b.cpu_ms - a.cpu_ms)[0]!
const home = figures['appliance /']
if (home)
  say(
    `Home: ${home.bytes ?? home.gzip_bytes} bytes of ${HOME.bytes}, first paint ${home.paint_ms ?? '–'} ms of ${HOME.paint_ms}, shift ${home.shift ?? '–'}`,
  )
process.stdout.write(
  `${JSON.stringify({
    bench: 'pages',
    ours: slowest[1].cpu_ms,
    peer: LIMIT_MS,
    peer_name: 'the limit of a page',
    ratio: Math.round((slowest[1].cpu_ms / LIMIT_MS) * 100) / 100,
    unit: `ms of CPU for one request of ${slowest[0]}`,
    pages: figures,
  })}\n`,
)
process.exit()

async function measure(product: Product): Promise<void> {
  if (!PATHS[product].some(path => `${product} ${path}`.includes(values.only))) return
  const workspace = mkdtempSync(join(tmpdir(), 'plenum-bench-pages-'))
  const site = await forkServer(CHILD, { workspace, product })
  const chromium = values['no-browser'] ? undefined : await openChromium()
  try {
    // Which rules can run is computed once for a model, for seconds; it is not the cost of the page that asks first.
    await compressed(`${site.url}/coverage`)
    for (const path of PATHS[product].filter(one => `${product} ${one}`.includes(values.only))) {
      const one: PageFigures = { cpu_ms: await cpuOf(site, path), gzip_bytes: (await compressed(site.url + path)).length }
      const isWhole = !/\/(tiles|part|figures|tree\?of=.*)$/.test(path)
      if (chromium && isWhole) Object.assign(one, await measureInBrowser(chromium.browser, site.url + path))
      figures[`${product} ${path}`] = one
      const seen =
        one.paint_ms === undefined ? '' : `, ${one.bytes} in all, first paint after ${one.paint_ms} ms, shift ${one.shift}`
      say(`${product} ${path}: ${one.cpu_ms} ms of CPU, ${one.gzip_bytes} bytes${seen}`)
    }
  } finally {
    await chromium?.close()
    await site.close()
    rmSync(workspace, { recursive: true, force: true })
  }
}

async function cpuOf(site: ForkedServer, path: string): Promise<number> {
  for (let i = 0; i < WARM_UP; i++) await compressed(site.url + path)
  await site.figures()
  for (let i = 0; i < REQUESTS; i++) await compressed(site.url + path)
  return round((await site.figures()).cpu_ms / REQUESTS)
}

/** The body as it travels. `fetch` would unpack it. */
function compressed(url: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers: { 'accept-encoding': 'gzip', accept: 'text/html' } }, async response => {
      const parts: Buffer[] = []
      for await (const part of response) parts.push(part as Buffer)
      if (response.statusCode === 200) resolve(Buffer.concat(parts))
      else reject(new Error(`${url}: ${response.statusCode}`))
    })
    request.on('error', reject)
  })
}
