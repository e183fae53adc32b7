/** How Node runs each program, wherever it is started: image, containers, units of a server, demonstration and benchmarks. */

/** The machine of an appliance has little memory, and its connectors share it. */
const APPLIANCE = ['--max-semi-space-size=1', '--optimize-for-size'] as const

/**
 * What edges send is garbage a moment later, which the settings of Node let pile up: while twenty edges sent their backlog a hub had 436 MB,
 * and 279 to 294 MB with these. It stored 218,000 to 278,000 points a second then instead of 290,000 to 332,000.
 */
const HUB = ['--max-semi-space-size=8', '--heap-growing-percent=20'] as const

/**
 * The flags of a program. `--optimize-for-size` would double the CPU time of the long replies of a hub.
 *
 * @param main path of the program from the root of the repository
 */
export const nodeFlags = (main: string): readonly string[] =>
  main.startsWith('appliance/') ? APPLIANCE : main.startsWith('hub/') ? HUB : []
