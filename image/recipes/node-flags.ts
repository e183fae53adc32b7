/** How Node runs each program, wherever it is started: image, containers, units of a server, demonstration and benchmarks. */

/** The machine of an appliance has little memory, and its connectors share it. */
const APPLIANCE = ['--max-semi-space-size=1', '--optimize-for-size'] as const

/**
 * A hub runs with the settings of Node. `--optimize-for-size` would double the CPU time of its long replies; with a smaller semi-space
 * than 16 MiB it stored a tenth less, and its peak was lower in half of the runs only.
 *
 * @param main path of the program from the root of the repository
 */
export const nodeFlags = (main: string): readonly string[] => (main.startsWith('appliance/') ? APPLIANCE : [])
