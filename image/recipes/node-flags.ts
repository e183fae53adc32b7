/** How Node runs each program, wherever it is started: image, containers, units of a server, demonstration and benchmarks. */

/** The machine of an appliance has little memory, and its connectors share it. */
const APPLIANCE = ['--max-semi-space-size=1', '--optimize-for-size'] as const

/**
 * What edges send is garbage a moment later, which the settings of Node let pile up. While twenty edges sent their backlog a hub had
 * 285 MB with these and stored 490,000 to 506,000 points a second, six tenths of what its broker moved in the same run. Where old
 * memory may grow by 60 % before it is marked, it had 312 MB and 0.66; with 16 MB for the young and 100 %, 324 MB and 0.73.
 */
const HUB = ['--max-semi-space-size=8', '--heap-growing-percent=30'] as const

/**
 * The flags of a program. `--optimize-for-size` would double the CPU time of the long replies of a hub.
 *
 * @param main path of the program from the root of the repository
 */
export const nodeFlags = (main: string): readonly string[] =>
  main.startsWith('appliance/') ? APPLIANCE : main.startsWith('hub/') ? HUB : []
