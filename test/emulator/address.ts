/** What the emulator gives the box on the uplink, where its page is reached. */
export const UPLINK_ADDRESS = '10.0.8.15'
