import { join } from 'node:path'

/** Where `scripts/image build` puts what it makes. */
export const BUILT = '.cache/image'
export const IMAGE = join(BUILT, 'plenum-arm64.img')
/** The same as an update. */
export const UPDATE = join(BUILT, 'plenum-arm64.raucb')
