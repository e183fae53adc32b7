/** How Node runs each program, wherever it is started: image, containers, units of a server, demonstration and benchmarks. */

/** The machine of an appliance has little memory, and its connectors share it. */
const APPLIANCE = ['--max-semi-space-size=1', '--optimize-for-size'] as const

/**
 * What edges send is garbage a moment later, which the settings of Node let pile up. While twenty edges sent their backlog a hub had
 * 286 MB with these and stored 372,000 to 416,000 points a second. Where old memory may grow by 20 % before it is marked, it had 256
 * to 269 MB and stored 344,000 to 377,000; by 50 %, 266 to 308 MB and 452,000 to 532,000.
 */
const HUB = ['--max-semi-space-size=8', '--heap-growing-percent=30'] as const

/**
 * The flags of a program. `--optimize-for-size` would double the CPU time of the long replies of a hub.
 *
 * @param main path of the program from the root of the repository
 */
export const nodeFlags = (main: string): readonly string[] =>
  main.startsWith('appliance/') ? APPLIANCE : main.startsWith('hub/') ? HUB : []
