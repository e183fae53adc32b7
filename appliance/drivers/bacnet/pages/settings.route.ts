/** The page and the API of where the box sends and receives BACnet/IP. */
import { Type } from '@sinclair/typebox'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { BACNET_PATH } from '#shared/central/ui/links.ts'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import { say } from '#shared/node/http/language.ts'
import { type Call, type Route, route, strict } from '#shared/node/http/route.ts'
import type { BacnetSettings, BacnetWish } from './bacnet-settings.ts'
import { NETWORK_ANSWER } from './answer-schemas.ts'
import { bacnetSettingsBody } from './settings.view.ts'

export const BACNET_NETWORK_PATH = `${BACNET_PATH}/network`

const Line = Type.String({ maxLength: 200 })
const Wish = strict({
  addresses: Type.Array(Line, { minItems: 1, maxItems: 8 }),
  port: Type.Integer(),
  bbmd: Line,
  bbmd_ttl_secs: Type.Integer(),
})
const Form = strict({ addresses: Line, port: Line, bbmd: Line, bbmd_ttl_secs: Line })

export function bacnetSettingsRoutes(settings: BacnetSettings, layout: PageLayout): Route[] {
  const change = { auth: 'admin', action: 'change_bacnet_network', problems: ['conflict', 'invalid'] } as const
  const save = async (wish: BacnetWish, { audit, reply }: Pick<Call<unknown, unknown, unknown>, 'audit' | 'reply'>) => {
    const before = settings.current().wish
    await settings.change(wish)
    audit({ subject: 'bacnet', before, after: wish })
    reply.raw.once('finish', settings.restart)
  }
  const answer = () => {
    const { wish, ...current } = settings.current()
    return { ok: true, ...wish, ...current }
  }
  const show = (call: Pick<Call<unknown, unknown, unknown>, 'caller' | 'reply'>, typed?: BacnetWish, refusal?: Problem) => {
    const current = settings.current()
    const body = bacnetSettingsBody({ ...current, form: typed ?? current.wish, refusal, csrf: layout.csrfOf(call.caller) })
    return layout.document(call, { title: say`BACnet network`, current: BACNET_NETWORK_PATH }, body)
  }
  return [
    route({
      method: 'GET',
      path: BACNET_NETWORK_PATH,
      auth: 'admin',
      summary: 'The page of where the box sends and receives BACnet/IP',
      handle: call => show(call),
    }),
    route({
      ...change,
      method: 'POST',
      path: BACNET_NETWORK_PATH,
      summary: 'The form of interface, port and broadcast manager',
      takes: 'form',
      body: Form,
      handle: async call => {
        const { addresses, port, bbmd, bbmd_ttl_secs } = call.body
        const wish = {
          addresses: addresses.split(',').map(part => part.trim()),
          port: Number(port),
          bbmd: bbmd.trim(),
          bbmd_ttl_secs: Number(bbmd_ttl_secs),
        }
        try {
          await save(wish, call)
          return show(call)
        } catch (error) {
          if (!(error instanceof Problem)) throw error
          call.reply.code(PROBLEMS[error.code].status)
          return show(call, wish, error)
        }
      },
    }),
    route({
      method: 'GET',
      path: '/api/bacnet/network',
      auth: 'admin',
      summary: 'Where the box sends and receives BACnet/IP, with the source of each value and the addresses of the machine',
      reply: NETWORK_ANSWER,
      handle: answer,
    }),
    route({
      ...change,
      method: 'PUT',
      path: '/api/bacnet/network',
      summary: 'Another interface, port or broadcast manager; the program starts again with it',
      body: Wish,
      reply: NETWORK_ANSWER,
      handle: async call => {
        await save(call.body, call)
        return answer()
      },
    }),
  ]
}
