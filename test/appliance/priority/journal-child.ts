/** Appends visits of one to seven readings without end and prints the last sequence of each once it is reported as kept. */
import pino from 'pino'
import { openPriorityJournal } from '#appliance/priority/priority-journal.ts'
import { KILLED, readings } from '../../support/journal-written.ts'

const journal = await openPriorityJournal({ dir: process.argv[2]!, log: pino({ level: 'silent' }), ...KILLED })
if (journal.state().journal === 'disabled') throw new Error(journal.state().reason)
for (let next = journal.state().last + 1, size = 1; ; size = (size % 7) + 1) {
  await journal.append(readings(next, next + size - 1))
  next += size
  process.stdout.write(`${next - 1}\n`)
}
