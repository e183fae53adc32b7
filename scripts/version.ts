/** Prints the version string: `0.1.0+0123456789ab`. An image has this line in its file VERSION. */
import { readVersion } from '../shared/node/version.ts'

process.stdout.write(`${readVersion()}\n`)
