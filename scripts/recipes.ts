/** Writes what `image/recipes/deployments.ts` decides: compose files and lists of settings. A test demands that they are current. */
import { writeFileSync } from 'node:fs'
import { deploymentFiles } from '#image/recipes/deployment-files.ts'

for (const [path, text] of deploymentFiles()) writeFileSync(path, text)
