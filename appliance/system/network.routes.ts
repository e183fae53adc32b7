/** The page and the API of the box's network. */
import { Type } from '@sinclair/typebox'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import { NetworkTrial } from '#shared/core/system/network-trial.ts'
import { type NetworkSettings, NetworkWish } from '#shared/core/system/system-file.ts'
import { say } from '#shared/node/http/language.ts'
import { type Call, oneOf, type Route, route, strict } from '#shared/node/http/route.ts'
import { FIRST_STEPS_PATH } from '../pages/first-steps.view.ts'
import type { BoxNetwork } from './network.ts'
import { networkBody, type NetworkForm } from './network.view.ts'

const NETWORK_PATH = '/network'

const Mode = oneOf(['dhcp', 'fixed'])
const Line = Type.String({ maxLength: 200 })
const Form = strict({
  uplink_mode: Mode,
  uplink_address: Line,
  uplink_gateway: Line,
  uplink_name_servers: Line,
  ot_mode: Type.Optional(Mode),
  ot_address: Type.Optional(Line),
  time_servers: Line,
})

const Reply = Type.Object({
  ok: Type.Literal(true),
  available: Type.Boolean(),
  current: Type.Union([NetworkWish, Type.Null()]),
  /** Whether the box is about to start with what was asked for. */
  asked: Type.Boolean(),
  trial: Type.Union([NetworkTrial, Type.Null()]),
})

type AnyCall = Pick<Call<unknown, unknown, unknown>, 'caller' | 'reply'>

export function networkRoutes(network: BoxNetwork, layout: PageLayout): Route[] {
  const current = (): NetworkWish | undefined => {
    const system = network.current()
    if (system === undefined) return undefined
    const { uplink, ot, time_servers = [] } = system
    return { uplink: addressesOf(uplink), ...(ot && { ot: addressesOf(ot) }), time_servers }
  }
  const answer = () => ({
    ...{ ok: true as const, available: network.isAvailable, current: current() ?? null },
    ...{ asked: network.isAsked(), trial: network.trial() ?? null },
  })
  const show = (call: AnyCall, typed?: NetworkForm, refusal?: Problem) => {
    const settings = current()
    const system = network.current()
    const model = {
      form: typed ?? (settings && formOf(settings)),
      interfaces: { uplink: system?.uplink.interface, ot: system?.ot?.interface },
      isAsked: network.isAsked(),
      trial: network.trial(),
      ...{ refusal, here: layout.here(), csrf: layout.csrfOf(call.caller) },
    }
    return layout.document(call, { title: say`Network`, current: FIRST_STEPS_PATH }, networkBody(model))
  }
  const change = { auth: 'admin', action: 'change_network', problems: ['conflict', 'invalid'] } as const
  const ask = async (wish: NetworkWish, audit: Call<unknown, unknown, unknown>['audit']) => {
    const before = current()
    await network.ask(wish)
    audit({ subject: 'network', before, after: wish })
  }
  const keep = async (audit: Call<unknown, unknown, unknown>['audit']) => {
    await network.keep()
    audit({ subject: 'network', after: current() })
  }
  return [
    route({
      method: 'GET',
      path: NETWORK_PATH,
      auth: 'admin',
      summary: 'The page Network of the box',
      handle: call => show(call),
    }),
    route({
      ...change,
      method: 'POST',
      path: NETWORK_PATH,
      summary: 'The form of the network',
      takes: 'form',
      body: Form,
      handle: async call => {
        try {
          await ask(wishOf(call.body, current()), call.audit)
          return call.reply.redirect(NETWORK_PATH, 303)
        } catch (error) {
          if (!(error instanceof Problem)) throw error
          call.reply.code(PROBLEMS[error.code].status)
          return show(call, call.body, error)
        }
      },
    }),
    route({
      ...change,
      method: 'POST',
      path: `${NETWORK_PATH}/keep`,
      action: 'keep_network',
      summary: 'The button that keeps the settings that are tried',
      takes: 'form',
      body: strict({}),
      handle: async call => {
        await keep(call.audit)
        return call.reply.redirect(NETWORK_PATH, 303)
      },
    }),
    route({
      method: 'GET',
      path: '/api/system/network',
      auth: 'viewer',
      summary: 'Addresses and time servers of the box, and what became of those that were asked for last',
      reply: Reply,
      handle: answer,
    }),
    route({
      ...change,
      method: 'PUT',
      path: '/api/system/network',
      summary:
        'Starts the box with other addresses and time servers; those before come back when nobody keeps them within ten minutes',
      body: NetworkWish,
      reply: Reply,
      handle: async ({ body, audit }) => {
        await ask(body, audit)
        return answer()
      },
    }),
    route({
      ...change,
      method: 'POST',
      path: '/api/system/network/keep',
      action: 'keep_network',
      summary: 'Keeps the settings that are tried',
      reply: Reply,
      handle: async ({ audit }) => {
        await keep(audit)
        return answer()
      },
    }),
  ]
}

const addressesOf = ({ address, gateway, name_servers }: NetworkSettings): NetworkWish['uplink'] => ({
  ...(address !== undefined && { address }),
  ...(gateway !== undefined && { gateway }),
  ...(name_servers && { name_servers }),
})

const formOf = ({ uplink, ot, time_servers }: NetworkWish): NetworkForm => ({
  uplink_mode: uplink.address === undefined ? 'dhcp' : 'fixed',
  uplink_address: uplink.address ?? '',
  uplink_gateway: uplink.gateway ?? '',
  uplink_name_servers: (uplink.name_servers ?? []).join(', '),
  ...(ot && { ot_mode: ot.address === undefined ? ('dhcp' as const) : ('fixed' as const), ot_address: ot.address ?? '' }),
  time_servers: time_servers.join(', '),
})

const listOf = (text: string): string[] => text.split(/[\s,;]+/).filter(word => word !== '')

/** What is no address is said when it is asked for. What has no field stays. */
function wishOf(form: NetworkForm, current: NetworkWish | undefined): NetworkWish {
  const text = (line: string | undefined) => (line ?? '').trim()
  const isFixed = form.uplink_mode === 'fixed'
  const gateway = text(form.uplink_gateway)
  const name_servers = listOf(form.uplink_name_servers)
  return {
    uplink: {
      ...(isFixed && { address: text(form.uplink_address) }),
      ...(isFixed && gateway !== '' && { gateway }),
      ...(name_servers.length > 0 && { name_servers }),
    },
    ...(form.ot_mode && {
      ot: {
        ...(form.ot_mode === 'fixed' && { address: text(form.ot_address) }),
        ...(current?.ot?.name_servers && { name_servers: current.ot.name_servers }),
      },
    }),
    time_servers: listOf(form.time_servers),
  }
}
