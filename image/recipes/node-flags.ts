/** How Node runs each program, wherever it is started: image, containers, units of a server, demonstration and benchmarks. */

/** The machine of an appliance has little memory, and its connectors share it. */
const APPLIANCE = ['--max-semi-space-size=1', '--optimize-for-size'] as const

/**
 * What edges send is garbage a moment later, which the settings of Node let pile up. While twenty edges sent their backlog a hub had
 * 254 to 279 MB with these and stored 439,000 to 545,000 points a second (mean of five runs 495,000); where old memory may grow by
 * 60 % before it is marked, 264 to 292 MB and 446,000; with 8 MB for the young and 30 %, 248 to 275 MB and 393,000.
 */
const HUB = ['--max-semi-space-size=16', '--heap-growing-percent=100'] as const

/**
 * The flags of a program. `--optimize-for-size` would double the CPU time of the long replies of a hub.
 *
 * @param main path of the program from the root of the repository
 */
export const nodeFlags = (main: string): readonly string[] =>
  main.startsWith('appliance/') ? APPLIANCE : main.startsWith('hub/') ? HUB : []
