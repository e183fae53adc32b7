/** What an update says about itself. Whether it is genuine is checked by the boxes, which alone know whom they trust. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { Problem } from '#shared/core/problem.ts'
import type { Bundle } from '#shared/core/update/rollout.ts'

/** The last bytes of a RAUC bundle are the length of the signature before them, whose message is the manifest. */
const LENGTH_BYTES = 8
/** A signature with its certificates and the manifest. */
const SIGNATURE_MAX = 64 * 1024

/** @throws Problem invalid where the file is no update of a box */
export async function readBundle(path: string): Promise<Bundle> {
  const refuse = (reason: string) => new Problem('invalid', `The file is no update of a box: ${reason}`)
  await using file = await open(path, 'r')
  const { size: bytes } = await file.stat()
  const length = Buffer.alloc(LENGTH_BYTES)
  if (bytes <= LENGTH_BYTES) throw refuse('it is too short')
  await file.read(length, 0, LENGTH_BYTES, bytes - LENGTH_BYTES)
  const signed = Number(length.readBigUInt64BE())
  if (signed === 0 || signed > Math.min(SIGNATURE_MAX, bytes - LENGTH_BYTES)) throw refuse('it does not end with a signature')
  const signature = Buffer.alloc(signed)
  await file.read(signature, 0, signed, bytes - LENGTH_BYTES - signed)
  const manifest = signature.toString('latin1')
  const compatible = /^compatible=(plenum-[a-z0-9]{1,16})$/m.exec(manifest)?.[1]
  const version = /^version=([\w.+-]{1,64})$/m.exec(manifest)?.[1]
  if (compatible === undefined || version === undefined) throw refuse('its manifest names no version of a box')
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return { version, compatible, bytes, sha256: hash.digest('hex') }
}
