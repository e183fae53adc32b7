import { pino } from 'pino'
import test from 'ava'
import { diskLevel, usedPercent } from '#shared/core/disk-use.ts'
import { diskSpace, diskWatch } from '#shared/node/disk-watch.ts'

test('a disk is warned of from 80, 90 and 95 % on', t => {
  const levels = [0, 79, 80, 89, 90, 94, 95, 100].map(diskLevel)
  t.deepEqual(levels, [undefined, undefined, 80, 80, 90, 90, 95, 95])
  t.is(usedPercent({ free_bytes: 201, total_bytes: 1000 }), 79)
  t.is(usedPercent({ free_bytes: 0, total_bytes: 0 }), 0)
})

test('the log has one line for each level that is reached, and one when the disk is below all of them again', async t => {
  const lines: { level: number; used_percent: number }[] = []
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })
  let free = 50
  const watch = diskWatch({ read: async () => ({ free_bytes: free, total_bytes: 100 }), log })
  for (free of [50, 20, 19, 9, 4, 3, 9, 15, 21, 20]) await watch.look()
  t.deepEqual(
    lines.map(({ level, used_percent }) => [level, used_percent]),
    [
      [40, 80],
      [40, 91],
      [40, 96],
      [30, 79],
      [40, 80],
    ],
  )
})

test('the space of a real disk is read', async t => {
  const { free_bytes, total_bytes } = await diskSpace('.')
  t.true(free_bytes > 0 && free_bytes <= total_bytes)
})
