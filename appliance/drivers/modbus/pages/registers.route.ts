/** The page of Modbus registers and its API. Both only read, with functions 1 to 4. */
import { Type } from '@sinclair/typebox'
import { listRegisters, registerMatrix } from '../core/matrix.ts'
import { BITS_MAX } from '../core/plan.ts'
import { ADDRESS_MAX, TABLES } from '../core/point.ts'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import { formatInstant } from '#shared/core/time.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { oneOf, type Route, route, strict } from '#shared/node/http/route.ts'
import { type RegisterRead, type RegisterSources, registerReader } from './register-reader.ts'
import { REGISTERS_ANSWER } from './register-schemas.ts'
import { type RegistersModel, registersBody } from './registers.view.ts'
import { say } from '#shared/node/http/language.ts'

const ADDRESS = Type.Integer({ minimum: 0, maximum: ADDRESS_MAX })
const PLACE = {
  device_id: Type.String({ minLength: 1, maxLength: 200 }),
  table: oneOf(TABLES),
  address: ADDRESS,
  count: Type.Integer({ minimum: 1, maximum: BITS_MAX }),
}
/** Defaults of the form: four registers hold the longest formats. */
const FIRST = { table: 'holding', address: 0, count: 4 } as const

export function modbusRoutes(sources: RegisterSources, layout: PageLayout): Route[] {
  const reader = registerReader(sources)
  return [
    route({
      method: 'GET',
      path: '/api/modbus/registers',
      auth: 'operator',
      summary: 'Reads registers or bits of a Modbus device now, in every format and order',
      query: strict(PLACE),
      reply: REGISTERS_ANSWER,
      problems: ['unknown_device', 'invalid', 'conflict', 'device_failed'],
      handle: async ({ query: { device_id, ...place } }) => registersReply(await reader.read(device_id, place)),
    }),
    route({
      method: 'GET',
      path: '/modbus',
      auth: 'operator',
      summary: 'The page of Modbus registers',
      query: Type.Partial(strict({ ...PLACE, from: ADDRESS })),
      handle: async call => {
        const { device_id, table, address, count, from } = { ...FIRST, ...call.query }
        const asked = { device_id, table, address, count }
        const outcome = device_id === undefined ? undefined : await reader.read(device_id, asked).catch(problemOf)
        if (outcome instanceof Problem) call.reply.code(PROBLEMS[outcome.code].status)
        const model: RegistersModel = { devices: reader.devices(), asked, from, outcome, here: layout.here() }
        return layout.document(call, { title: say`Modbus registers`, current: '/modbus' }, registersBody(model))
      },
    }),
  ]
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  throw error
}

function registersReply({ device, place, parts, unreadable, at, rttMs }: RegisterRead) {
  const { table } = place
  const bits = parts.flatMap(part => part.bits.map((value, i) => ({ address: part.address + i, value })))
  const lists = parts.map(({ bytes, address }) => ({ bytes, address, rows: listRegisters(bytes, address) }))
  const registers = lists.flatMap(({ rows }) => rows)
  return {
    ok: true,
    device_id: device.device_id,
    ...place,
    observed_at: formatInstant(at),
    rtt_ms: Math.round(rttMs * 10) / 10,
    ...(bits.length > 0 && { bits }),
    ...(registers.length > 0 && {
      registers,
      values: lists.flatMap(({ bytes, address, rows }) =>
        rows.flatMap(row => registerMatrix(bytes, table, address, row.address)),
      ),
    }),
    ...(unreadable.length > 0 && { unreadable }),
  }
}
