/** The dashboard for Grafana against what a hub answers at /metrics. */
import { readFileSync } from 'node:fs'
import test from 'ava'
import { freePort } from '#scripts/lib/free-port.ts'
import { folder } from '../support/folders.ts'
import { openTenantSite } from '../support/sites/tenant-site.ts'

type Panel = { title: string; targets: { expr: string }[] }
const { panels } = JSON.parse(readFileSync('image/recipes/grafana-dashboard.json', 'utf8')) as { panels: Panel[] }

test('every metric of the dashboard is one that a hub has, and every panel shows some', async t => {
  const at = `127.0.0.1:${await freePort()}`
  const { call, admin } = await openTenantSite(t, folder(t), { SERVICE_MULTI_TENANT: '0', SERVICE_METRICS_BIND: at })
  t.is((await call(admin, 'GET', '/api/auth/me')).status, 200)
  // A request is counted when its answer has ended, which its caller may notice first.
  let text = ''
  while (!text.includes('plenum_http_request_seconds_bucket')) text = await (await fetch(`http://${at}/metrics`)).text()
  const there = new Set([...text.matchAll(/^([a-z]\w+)(?:\{.*\})? \S+$/gm)].map(([, name]) => name!))
  for (const { title, targets } of panels) {
    const names = targets.flatMap(({ expr }) =>
      [...expr.matchAll(/\b((?:plenum|process|nodejs)_\w+)\{/g)].map(([, name]) => name!),
    )
    t.is(names.length, targets.length, title)
    for (const name of names) t.true(there.has(name), `${title}: ${name}`)
  }
  for (const signal of ['Latency', 'Traffic', 'Errors', 'Saturation'])
    t.true(panels.some(({ title }) => title.startsWith(signal)))
})
