import { parse } from 'csv-parse/sync'
import test from 'ava'
import { formatInstant, HOUR } from '#shared/core/time.ts'
import { openSite, PASSWORDS } from '../../../../support/sites/page-site.ts'
import { signedIn } from '../../../../support/signed-in.ts'
import { finding, FINDINGS, NOW } from '../../../../support/page-fixture.ts'

const linesOf = (text: string): Record<string, string>[] => parse(text, { columns: true })

test('the file has a line for each fault of the list, with first and last seen, hours, episodes and what people said', async t => {
  const many = Array.from({ length: 130 }, (_, i) =>
    finding({
      finding_id: `m-${i}`,
      rule_id: `R-${i}`,
      equipment_id: 'vav-3',
      title: '=Fan, "stuck"',
      severity: 4,
      from: NOW - HOUR,
    }),
  )
  const site = await openSite({ product: 'appliance', findings: [...FINDINGS, ...many] })
  t.teardown(site.close)
  const agent = await signedIn(site.url, 'agent', PASSWORDS.agent)
  await agent.post('/faults/f-cooling/note', '/faults/f-cooling', { note: 'valve, ordered' })
  await agent.post('/faults/f-cooling/assign', '/faults/f-cooling', { assignee: 'Kim' })
  const answer = await agent.get('/faults.csv')
  t.is(answer.headers.get('content-disposition'), 'attachment; filename="faults.csv"')
  const lines = linesOf(await answer.text())
  t.is(lines.length, 133, 'all of them, not the 100 of a page')

  const [cooling] = lines
  t.like(cooling, {
    finding_id: 'f-cooling',
    equipment_id: 'ahu-1',
    priority: '1',
    state: 'active',
    first_seen: formatInstant(NOW - 30 * HOUR),
    last_seen: '',
    hours_in_fault: '9.00',
    episodes: '2',
    ack: 'unacked',
    assignee: 'Kim',
    note: 'valve, ordered',
  })
  t.true(cooling!['sentence']!.includes('°F'), 'in the units of the building')
  t.is(lines.find(({ finding_id }) => finding_id === 'm-7')!['fault'], '\'=Fan, "stuck"', 'no spreadsheet runs it')

  const cleared = linesOf(await (await agent.get('/faults.csv?state=cleared')).text())
  t.true(cleared.length > 0 && cleared.every(({ last_seen, state }) => state === 'cleared' && last_seen !== ''))
  const page = await (await agent.get('/faults?minutes=240&sort=cost')).text()
  const href = /href="([^"]*faults\.csv[^"]*)"/.exec(page)![1]!.replaceAll('&amp;', '&')
  t.is(href, '/faults.csv?sort=cost&minutes=240')
  const long = linesOf(await (await agent.get(href)).text())
  t.true(long.length > 0 && long.every(({ hours_in_fault }) => Number(hours_in_fault) >= 4))
})
