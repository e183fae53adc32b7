/** Reads the parts of a form with files. A broken form is an error of its sender, never an internal error. */
import type { Multipart, MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Problem } from '#shared/core/problem.ts'

type FormLimits = { fileSize: number; files: number; fields: number; fieldSize: number }
/** Maximum length of the name of a field or file: a path of some folders. */
const NAME_MAX = 1024
/** Maximum number of headers of one part; a browser sends two. */
const HEADERS_MAX = 20

/**
 * The parts of a form in their order. A file must be read before the next part, and before the loop is left.
 *
 * @throws Problem bad_request when the form is broken or incomplete, too_large beyond a limit
 */
export async function* partsOf(request: FastifyRequest, limits: FormLimits): AsyncGenerator<Multipart> {
  const bounds = { ...limits, parts: limits.files + limits.fields, headerPairs: HEADERS_MAX, fieldNameSize: NAME_MAX }
  try {
    for await (const part of request.parts({ preservePath: true, limits: bounds })) {
      const name = part.type === 'file' ? (part.filename ?? '') : part.fieldname
      if (name.length > NAME_MAX) throw new Problem('bad_request', `A name in the form is longer than ${NAME_MAX} characters`)
      yield part
    }
  } catch (error) {
    throw formFault(error as Error)
  } finally {
    // Who refuses a form before its end reads the rest all the same: otherwise the sender, who is still writing, never reads why.
    if (!request.raw.readableEnded) request.raw.unpipe().resume()
  }
}

/** @throws Problem as `partsOf` */
export async function writeFile(part: MultipartFile, to: Writable): Promise<void> {
  await pipeline(part.file, to).catch(error => {
    throw formFault(error)
  })
}

type FileForm<T> = {
  /** Fields that may come before the file; the first is the token of a page. */
  fields: readonly string[]
  fieldBytes: number
  fileBytes: number
  /** Of the fields before the file, which a page does; throws what the caller is told. */
  check?: ((fields: ReadonlyMap<string, string>) => void) | undefined
  /** @param write writes the file and ends the stream */
  take(write: (to: Writable) => Promise<void>, fields: ReadonlyMap<string, string>): Promise<T>
}

/**
 * Reads a form of fields and then one file.
 *
 * @throws Problem bad_request without a file or with another field, and what `check` and `take` throw
 */
export async function readFileForm<T>(request: FastifyRequest, { check, take, ...form }: FileForm<T>): Promise<T> {
  const fields = new Map<string, string>()
  const limits = { fileSize: form.fileBytes, files: 1, fields: form.fields.length, fieldSize: form.fieldBytes }
  for await (const part of partsOf(request, limits)) {
    if (part.type === 'file') {
      check?.(fields)
      return await take(to => writeFile(part, to), fields)
    }
    if (!form.fields.includes(part.fieldname))
      throw new Problem('bad_request', `"${part.fieldname}" is no field of this form; it has ${form.fields.slice(1).join(', ')}`)
    fields.set(part.fieldname, String(part.value))
  }
  throw new Problem('bad_request', 'The form contains no file')
}

/** @throws Problem as `partsOf` */
export async function partContent(part: MultipartFile): Promise<Buffer> {
  return part.toBuffer().catch(error => {
    throw formFault(error)
  })
}

/** Errors of the form reader have no code; errors of the system and of the server have one. */
const formFault = (error: Error) =>
  'code' in error ? error : new Problem('bad_request', `The form cannot be read: ${error.message}`)
