import multipart from '@fastify/multipart'
import test from 'ava'
import fastify from 'fastify'
import { Problem } from '#shared/core/problem.ts'
import { partsOf } from '#shared/node/http/upload.ts'

const LIMITS = { fileSize: 1e9, files: 2, fields: 2, fieldSize: 1000 }
/** More than sockets hold on the way, so that a sender who is not read from waits. */
const MANY = 32 * 1024 * 1024

test('who sends a large file that is refused at its beginning reads why, and the connection serves the next request', async t => {
  const app = fastify()
  t.teardown(() => app.close())
  await app.register(multipart)
  app.post('/', async (request, reply) => {
    try {
      for await (const part of partsOf(request, LIMITS)) if (part.type === 'file') throw new Problem('conflict', 'not now')
    } catch (error) {
      return reply.code(409).send({ detail: (error as Error).message })
    }
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  for (let i = 0; i < 3; i++) {
    const form = new FormData()
    form.set('file', new Blob([new Uint8Array(MANY)]), 'x.bin')
    const answer = await fetch(url, { method: 'POST', body: form })
    t.deepEqual([answer.status, await answer.json()], [409, { detail: 'not now' }])
  }
})
