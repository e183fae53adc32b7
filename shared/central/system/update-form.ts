/** Reads the form that brings an update: fields, then the file. */
import type { Writable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { Problem } from '#shared/core/problem.ts'
import { BUNDLE_MAX } from '#shared/core/update/update-wire.ts'
import { partsOf, writeFile } from '#shared/node/http/upload.ts'

const FIELDS = ['csrf', 'force']
const FIELD_BYTES = 4096

type Received = { bytes: number; fields: ReadonlyMap<string, string> }
export type UpdateReceiver = {
  /** Before anything is read; throws what the caller is told. */
  begin: (bytes: number) => Promise<void>
  /** @param write writes the file and ends the stream */
  receive: (write: (to: Writable) => Promise<void>, received: Received) => Promise<void>
}

/**
 * @param check of the fields before the file, which a page does; throws what the caller is told
 * @throws Problem bad_request without a file, and what the receiver throws
 */
export async function readUpdateForm(
  { begin, receive }: UpdateReceiver,
  request: FastifyRequest,
  check: (fields: ReadonlyMap<string, string>) => void = () => undefined,
): Promise<void> {
  const bytes = Number(request.headers['content-length'] ?? 0)
  await begin(bytes)
  const fields = new Map<string, string>()
  const limits = { fileSize: BUNDLE_MAX, files: 1, fields: FIELDS.length, fieldSize: FIELD_BYTES }
  for await (const part of partsOf(request, limits)) {
    if (part.type === 'field') {
      if (!FIELDS.includes(part.fieldname))
        throw new Problem('bad_request', `"${part.fieldname}" is no field of this form; it has force`)
      fields.set(part.fieldname, String(part.value))
      continue
    }
    check(fields)
    await receive(to => writeFile(part, to), { bytes, fields })
    return
  }
  throw new Problem('bad_request', 'The form contains no file')
}
