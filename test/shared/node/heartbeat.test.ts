import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { pino } from 'pino'
import { heartbeatService } from '#shared/node/heartbeat.ts'
import { folder, until } from '../../support/folders.ts'

const log = pino({ level: 'silent' })

test('the file is written again and again while the process works, and not while it does not', async t => {
  const file = join(folder(t), 'run', 'alive')
  let isAlive = true
  const heart = heartbeatService(file, () => isAlive, log, 10)
  await heart.start()
  t.teardown(() => heart.stop())
  const first = readFileSync(file, 'utf8')
  await until(() => readFileSync(file, 'utf8') !== first && readFileSync(file, 'utf8') !== '', 'a second beat')
  isAlive = false
  await new Promise(resolve => setTimeout(resolve, 50))
  rmSync(file)
  await new Promise(resolve => setTimeout(resolve, 100))
  t.false(existsSync(file))
  isAlive = true
  await until(() => existsSync(file), 'a beat after the process works again')
})

test('nobody watches: nothing is written', async t => {
  const heart = heartbeatService(
    undefined,
    () => {
      throw new Error('nobody asks')
    },
    log,
    1,
  )
  await heart.start()
  await new Promise(resolve => setTimeout(resolve, 20))
  await heart.stop()
  t.pass()
})
