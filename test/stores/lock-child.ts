/** Takes the workspace that its argument names, says so, and stays until it is killed. */
import { lockWorkspace } from '#shared/node/workspace-lock.ts'

const unlock = lockWorkspace(process.argv[2]!)
process.on('disconnect', unlock)
process.send!('locked')
