import test from 'ava'
import { runInGroup } from '#scripts/lib/process-group.ts'

const exists = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
const isGone = async (pid: number): Promise<boolean> => {
  for (let i = 0; i < 100 && exists(pid); i++) await new Promise(resolve => setTimeout(resolve, 20))
  return !exists(pid)
}

function runShell(script: string, timeoutMs = 60_000) {
  const shown = { text: '' }
  const { end, ended } = runInGroup(['bash', '-c', script], { timeoutMs, onText: text => void (shown.text += text) })
  return { shown, end, ended }
}

test('a process that a command leaves behind neither holds its end up nor goes on', async t => {
  const { shown, ended } = runShell('sleep 600 & echo $!; exit 3')
  t.deepEqual(await ended, { code: 3, isLate: false })
  t.true(await isGone(Number(shown.text)))
})

test('output is read to its end although a process in another group holds the pipe', async t => {
  const { shown, ended } = runShell('setsid sleep 600 & echo $!; echo last')
  t.deepEqual(await ended, { code: 0, isLate: false })
  const [pid, last] = shown.text.trim().split('\n')
  t.is(last, 'last')
  process.kill(Number(pid), 'SIGKILL')
})

test('a command that takes too long is killed with what it started', async t => {
  const { shown, ended } = runShell('sleep 600 & echo $!; wait', 500)
  t.deepEqual(await ended, { code: 1, isLate: true })
  t.true(await isGone(Number(shown.text)))
})

test('a command that does not exist is an error', async t => {
  await t.throwsAsync(runInGroup(['/nowhere/at-all'], { timeoutMs: 1000, onText: () => undefined }).ended, { code: 'ENOENT' })
})
