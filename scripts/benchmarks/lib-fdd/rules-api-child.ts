/** One side of `scripts/bench rules-api`, in a process of its own: central with its pages, or a bare server of the same bytes. */
import Fastify from 'fastify'
import { watchProcess } from '#scripts/lib/process-figures.ts'
import { openBenchSite } from '../lib-pages/open-site.ts'

export type Answer = { type: string; text: string }
export type Order = { workspace: string } | { answers: Record<string, Answer> }

process.once('message', (order: Order) => {
  void ('workspace' in order ? openBenchSite({ workspace: order.workspace, product: 'hub' }) : openPeer(order.answers)).then(
    url => {
      const figures = watchProcess()
      process.on('message', () => process.send!(figures()))
      process.send!(url)
    },
  )
})
process.once('disconnect', () => process.exit())

async function openPeer(answers: Record<string, Answer>): Promise<string> {
  const app = Fastify()
  app.get('*', (request, reply) => {
    const { type, text } = answers[request.url]!
    return reply.type(type).send(text)
  })
  return app.listen({ host: '127.0.0.1', port: 0 })
}
