/** Reads the form that brings an update: a flag, then the file. */
import type { FastifyRequest } from 'fastify'
import { Problem } from '#shared/core/problem.ts'
import { partsOf, writeFile } from '#shared/node/http/upload.ts'
import { BUNDLE_MAX, type Updates } from './updates.ts'

const FIELDS = ['csrf', 'force']
const FIELD_BYTES = 4096

/**
 * @param check of the fields before the file, which a page does; throws what the caller is told
 * @throws Problem bad_request without a file, and as `Updates.receive`
 */
export async function receiveUpdate(
  updates: Updates,
  request: FastifyRequest,
  check: (fields: ReadonlyMap<string, string>) => void = () => undefined,
): Promise<void> {
  const bytes = Number(request.headers['content-length'] ?? 0)
  await updates.begin(bytes)
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
    return updates.receive(to => writeFile(part, to), { bytes, force: fields.get('force') === '1' })
  }
  throw new Problem('bad_request', 'The form contains no file')
}
