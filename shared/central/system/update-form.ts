/** Reads the form that brings an update: fields, then the file. */
import type { Writable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { BUNDLE_MAX } from '#shared/core/update/update-wire.ts'
import { readFileForm } from '#shared/node/http/upload.ts'

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
  check?: (fields: ReadonlyMap<string, string>) => void,
): Promise<void> {
  const bytes = Number(request.headers['content-length'] ?? 0)
  await begin(bytes)
  await readFileForm(request, {
    ...{ fields: ['csrf', 'force'], fieldBytes: FIELD_BYTES, fileBytes: BUNDLE_MAX, check },
    take: (write, fields) => receive(write, { bytes, fields }),
  })
}
