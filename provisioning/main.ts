/** Certificates for scripts, without a hub: `provisioning/main.ts --help`. */
import { refuseSecretArguments } from '#shared/node/settings.ts'
import { runCommand } from './commands.ts'

refuseSecretArguments(process.argv.slice(2))
const { exit, text } = await runCommand(process.argv.slice(2), Date.now)
;(exit === 0 ? process.stdout : process.stderr).write(text)
process.exitCode = exit
