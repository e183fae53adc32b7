/** Ends a test file that runs on after its last test, as an error that names what it left open. AVA would wait for ever. */
import { registerCompletionHandler } from 'ava'

/** Child processes, sockets and logs have this long to end by themselves. */
const GRACE_MS = 20_000

registerCompletionHandler(() => {
  const end = () => {
    process.stderr.write(`this file left open after its last test: ${process.getActiveResourcesInfo().join(', ')}\n`)
    process.exit(1)
  }
  setTimeout(end, GRACE_MS).unref()
})
