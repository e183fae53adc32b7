/** Takes the workspace that its argument names, says so, and stays until it is killed. */
import { lockFolder } from '#shared/node/folder-lock.ts'

const unlock = lockFolder('the workspace', process.argv[2]!)
process.on('disconnect', unlock)
process.send!('locked')
