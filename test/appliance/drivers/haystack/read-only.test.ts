/** Every request to a Haystack server reads. No op that writes can be sent. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import test from 'ava'
import { OPS } from '#appliance/drivers/haystack/session.ts'
import { importsOf } from '#scripts/closure.ts'
import { accessOf, openClient, openServer, RETRY_POLICY } from './harness.ts'

const SOURCES = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '--', 'appliance/*.ts', 'shared/*.ts'],
  {
    encoding: 'utf8',
  },
)
  .trim()
  .split('\n')

test('the driver has only ops that read', t => {
  t.deepEqual([...OPS].toSorted(), [
    'about',
    'close',
    'filetypes',
    'formats',
    'ops',
    'read',
    'watchPoll',
    'watchSub',
    'watchUnsub',
  ])
})

test('no source names an op that changes something', t => {
  for (const file of SOURCES) t.notRegex(readFileSync(file, 'utf8'), /pointWrite|hisWrite|invokeAction/, file)
})

test('one file imports haystack-core, for its reader and its filters', t => {
  const knowing = SOURCES.filter(file => importsOf(readFileSync(file, 'utf8')).some(name => name.startsWith('haystack-core')))
  t.deepEqual(knowing, ['appliance/drivers/haystack/codec.ts'])
  t.regex(readFileSync(knowing[0]!, 'utf8'), /import \{ HFilter, ZincReader \} from 'haystack-core'/)
})

test('every method of the client sends an op of the list', async t => {
  const server = await openServer(t)
  const { client, session } = openClient(t, accessOf(server, 'scram'))
  const { watch } = await client.watchSub(['a1'], 60_000, undefined, RETRY_POLICY)
  await client.watchPoll(watch.watchId, RETRY_POLICY)
  await client.watchUnsub(watch.watchId, RETRY_POLICY)
  await client.about(RETRY_POLICY)
  await client.ops(RETRY_POLICY)
  await client.formats(RETRY_POLICY)
  await client.read('point', 1, RETRY_POLICY).catch(() => undefined)
  await session.close()
  for (const op of server.ops()) t.true((OPS as readonly string[]).includes(op), op)
  for (const { op, method } of server.asked) t.is(method, ['about', 'ops', 'filetypes'].includes(op) ? 'GET' : 'POST', op)
})
