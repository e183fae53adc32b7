/** The certificates of a page Enrol with more of them than one page has. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { PKI_FILES } from '#shared/node/pki/pki-files.ts'
import { DAY } from '#shared/core/time.ts'
import { folder } from '../../support/folders.ts'
import { signedIn } from '../../support/signed-in.ts'
import { makeHubAuthority, openEnrolSite } from '../../support/sites/enrol-site.ts'
import { PASSWORDS } from '../../support/sites/page-site.ts'

const BOX = /<td data-label="Box"><div>(\S+) /g
const boxesOf = (page: string) => [...page.matchAll(BOX)].map(([, box]) => box!)

test('a long list of certificates is shown in parts and searched, and the newest of a box alone is reissued', async t => {
  const { hub } = await makeHubAuthority(folder(t))
  const file = join(hub, PKI_FILES.issued)
  const now = Date.now()
  // Each box has a certificate that was renewed, and the newer one is due for renewal at every other box.
  const certificate = (n: number, isNew: boolean) => ({
    ...{ serial: `${isNew ? 'aa' : 'bb'}${n}`, cn: `edge:s${n % 2}:box-${n}`, kind: 'edge', revoked_at: null },
    ...{ issued_at: now - (isNew && n % 2 === 0 ? 1 : 90) * DAY, not_after: now + 10 * DAY },
  })
  const before = Array.from({ length: 60 }, (_, n) => certificate(n, false))
  const after = Array.from({ length: 60 }, (_, n) => certificate(n, true))
  writeFileSync(file, JSON.stringify([...(JSON.parse(readFileSync(file, 'utf8')) as unknown[]), ...before, ...after]))
  const site = await openEnrolSite(hub, 8883)
  t.teardown(site.close)
  const { get } = await signedIn(site.url, 'agent', PASSWORDS.agent)
  const page = async (query: string) => (await get(`/enrol${query}`)).text()

  const first = await page('')
  t.regex(first, /120 certificates are valid; 30 should be renewed/)
  t.regex(first, /Page 1 of 3.*href="\/enrol\?page=2#certificates"/)
  const all = [first, await page('?page=2'), await page('?page=3')].flatMap(boxesOf)
  t.is(boxesOf(first).length, 50)
  t.is(all.length, 120)
  t.is(new Set(all).size, 60)

  const one = await page('?q=box-7')
  t.deepEqual(boxesOf(one), ['box-7', 'box-7'])
  t.is(one.match(/<summary>Reissue/g)?.length, 1)
  t.is(one.match(/renewal is due/g)?.length, 1)
  t.is(boxesOf(await page('?q=bb3&page=9')).length, 11)
  t.regex(await page('?q=nowhere'), /No certificate contains “nowhere”\./)
})
