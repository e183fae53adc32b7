import test from 'ava'
import pino from 'pino'
import { failureLog } from '#shared/node/failure-log.ts'

test('a failure is one line when it begins and one when it ends; what the machine refuses has no stack', t => {
  const said: Record<string, unknown>[] = []
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => void said.push(JSON.parse(line)) })
  const { failed, worked } = failureLog(log, 'it is not kept', 'it is kept again')
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  worked()
  for (let i = 0; i < 50; i++) failed(full)
  worked()
  worked()
  failed(new Error('a surprise'))
  failed(full)
  t.deepEqual(
    said.map(({ level, msg, failures }) => [level, msg, failures]),
    [
      [50, 'it is not kept: no space left on device', undefined],
      [30, 'it is kept again', 50],
      [50, 'it is not kept: a surprise', undefined],
    ],
  )
  t.is(said[0]!['err'], undefined)
  t.regex((said[2]!['err'] as { stack: string }).stack, /a surprise\n {4}at /)
})
