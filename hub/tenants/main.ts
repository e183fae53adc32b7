/** Commands on the tenants of a hub, on its machine: `hub/tenants/main.ts --help`. */
import { keepFilesPrivate } from '#shared/node/private-files.ts'
import { refuseSecretArguments } from '#shared/node/settings.ts'
import { runMigrate } from './migrate-command.ts'

keepFilesPrivate()
refuseSecretArguments(process.argv.slice(2))
const onStep = (text: string) => void process.stderr.write(`${text}\n`)
const { exit, stdout, stderr } = await runMigrate(process.argv.slice(2), process.env, { now: Date.now, onStep })
process.stdout.write(stdout)
process.stderr.write(stderr)
process.exitCode = exit
