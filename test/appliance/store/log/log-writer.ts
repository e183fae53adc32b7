/** Appends groups of one to seven records without end and prints each sequence once it is durable; drops what is old. */
import { openSegmentedLog } from '#appliance/store/log/segmented-log.ts'

const opening = await openSegmentedLog<{ n: number }>(process.argv[2]!, { segmentBytes: 4096 })
if (opening.state === 'corrupt') throw new Error(opening.reason)
const { log } = opening
for (let next = log.state().last + 1, size = 1; ; size = (size % 7) + 1) {
  await log.append(Array.from({ length: size }, (_, i) => ({ n: next + i })))
  next += size
  process.stdout.write(`${next - 1}\n`)
  log.dropThrough(next - 200)
}
