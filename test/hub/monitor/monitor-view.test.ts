import test from 'ava'
import { inLanguage } from '#shared/node/http/language.ts'
import { monitorBody } from '#hub/monitor/monitor.view.ts'
import { IN_GERMAN } from '../../support/in-german.ts'

test('a German filter asks for the kinds that the route knows', t => {
  const stats = { connected: true, since: 0, messages: 0, bytes: 0, dropped: 0 }
  const page = () => monitorBody({ messages: [], stats, filter: { kind: 'unknown' }, here: { now: 0, timezone: 'UTC' } }).text
  t.regex(page(), /<option value="unknown" selected>unknown</)
  t.regex(inLanguage(IN_GERMAN, page), /<option value="unknown" selected>unbekannt</)
})
