import test from 'ava'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'

test('tasks run one after the other, and a task that fails does not stop the next', async t => {
  const inTurn = createSerialQueue()
  const events: string[] = []
  const task = (name: string, error?: Error) => async () => {
    events.push(`${name} starts`)
    await Promise.resolve()
    events.push(`${name} ends`)
    if (error) throw error
    return name
  }
  const failed = t.throwsAsync(inTurn(task('first', new Error('no'))), { message: 'no' })
  t.is(await inTurn(task('second')), 'second')
  await failed
  t.deepEqual(events, ['first starts', 'first ends', 'second starts', 'second ends'])
})
