/** The floor: what Node and fastify cost before there is a program. */
import fastify from 'fastify'

const app = fastify()
app.get('/api/health', () => ({ ok: true }))
await app.listen({ host: '127.0.0.1', port: Number(process.argv[2]) })
process.on('SIGTERM', () => process.exit())
