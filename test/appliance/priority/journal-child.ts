/** Appends visits of one to seven readings until it is killed, and prints the last sequence of each acknowledged visit. */
import pino from 'pino'
import { openPriorityJournal } from '#appliance/priority/priority-journal.ts'
import { SMALL_JOURNAL, readings } from '../../support/journal-written.ts'

const journal = await openPriorityJournal({ dir: process.argv[2]!, log: pino({ level: 'silent' }), ...SMALL_JOURNAL })
if (journal.state().journal === 'disabled') throw new Error(journal.state().reason)
for (let next = journal.state().last + 1, size = 1; ; size = (size % 7) + 1) {
  await journal.append(readings(next, next + size - 1))
  next += size
  process.stdout.write(`${next - 1}\n`)
}
