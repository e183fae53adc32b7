/** The files of deployments that are written from the tables of recipes and components. */
import { containerFile } from '../containers/container-file.ts'
import { COMPONENT_NAMES } from './components.ts'
import { composeFile, settingsFile } from './compose.ts'
import { RECIPE_NAMES } from './deployments.ts'
import { unitFiles } from './unit-files.ts'

const FOLDER = 'image/recipes'

/** @returns the text of each file by its path */
export const deploymentFiles = (): Map<string, string> =>
  new Map([
    ...RECIPE_NAMES.flatMap((name): [string, string][] => [
      [`${FOLDER}/${name}.yaml`, composeFile(name)],
      [`${FOLDER}/${name}.env.example`, settingsFile(name)],
    ]),
    ...unitFiles(),
    ...COMPONENT_NAMES.map((name): [string, string] => [`image/containers/${name}.containerfile`, containerFile(name)]),
  ])
