import test from 'ava'
import { HUB_SILENT_MS } from '#hub/cluster/hub-list.ts'
import { otherHubsPart } from '#hub/pages/other-hubs.ts'
import { NOW } from '../../support/page-fixture.ts'

const here = { now: NOW, timezone: 'Europe/Vienna' }
const hub = {
  site_id: 'north',
  address: 'https://north.example.com',
  holder: 'machine-2',
  edges: 1200,
  not_operational: 3,
  faults: 7,
}

test('a hub that is alone says nothing of others', t => t.is(otherHubsPart([], here), undefined))

test('another hub is shown with its figures, and whether it has told them lately', t => {
  const shown = (told_at: number, more: Partial<typeof hub> = {}) => {
    const text = otherHubsPart([{ ...hub, ...more, told_at }], here)!.text
    return text.replaceAll(/<time[^>]*>|<[^a>][^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
  }
  t.regex(
    shown(NOW - HUB_SILENT_MS),
    /<a href="https:\/\/north\.example\.com">north.* active .*1,200, of which 3 not operational 7 machine-2/,
  )
  t.regex(shown(NOW - HUB_SILENT_MS - 1, { not_operational: 0 }), / silent .* 1,200 7 machine-2/)
})

test('a hub whose address nobody has set is no link', t => {
  const text = otherHubsPart([{ ...hub, address: undefined, site_id: undefined, told_at: NOW }], here)!.text
  t.notRegex(text, /<a /)
  t.regex(text, /All sites/)
})
