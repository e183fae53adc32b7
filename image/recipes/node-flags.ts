/** How Node runs each program, wherever it is started: image, containers, units of a server, demonstration and benchmarks. */

/** The machine of an appliance has little memory, and its connectors share it. */
const APPLIANCE = ['--max-semi-space-size=1', '--optimize-for-size'] as const
/**
 * With the 16 MiB of Node's default a hub held 350 to 410 MB while edges sent a backlog, with 4 MiB 215 to 230 MB in the same time.
 * `--optimize-for-size` would double the CPU time of long replies.
 */
const HUB = ['--max-semi-space-size=4'] as const

/** @param main path of the program from the root of the repository */
export const nodeFlags = (main: string): readonly string[] => (main.startsWith('appliance/') ? APPLIANCE : HUB)
