/** The files of deployments that are written from the table of recipes. */
import { composeFile, settingsFile } from './compose.ts'
import { RECIPE_NAMES } from './deployments.ts'

const FOLDER = 'image/recipes'

/** @returns the text of each file by its path */
export const deploymentFiles = (): Map<string, string> =>
  new Map(
    RECIPE_NAMES.flatMap(name => [
      [`${FOLDER}/${name}.yaml`, composeFile(name)] as const,
      [`${FOLDER}/${name}.env.example`, settingsFile(name)] as const,
    ]),
  )
