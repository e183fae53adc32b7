/** An update of a box's system on its way from the hub: what became of the last one, and the next in pieces. */
import { type Static, type TProperties, Type } from '@sinclair/typebox'

const strict = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: false })

/** `installed` runs from the next start, `trying` runs and is watched, `confirmed` stays. */
const UPDATE_STATES = ['installing', 'installed', 'trying', 'confirmed', 'refused', 'failed', 'rolled_back'] as const
/** A status message carries them each minute. */
const LOG_LINES = 10
/** What became of the last update of a box, as its system writes it. */
export const UpdateState = Type.Object({
  state: Type.Union(UPDATE_STATES.map(state => Type.Literal(state))),
  version: Type.String(),
  slot: Type.String(),
  reason: Type.String(),
  at: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT[\\d:]{8}Z$' }),
  /** The end of the log of a version that was left, oldest line first. */
  log: Type.Optional(Type.Array(Type.String({ maxLength: 400 }), { maxItems: LOG_LINES })),
})
export type UpdateState = Static<typeof UpdateState>

/** A root, its kernel and its hashes; larger ones do not fit a slot. */
export const BUNDLE_MAX = 512 * 2 ** 20
/** Bytes of one piece: as text within a message, and within the time of an answer over a slow mobile connection. */
export const PIECE_MAX = 64 * 1024
/** Four characters of base64 are three bytes. */
const PIECE_TEXT_MAX = Math.ceil(PIECE_MAX / 3) * 4

/** Names the file, and carries a piece of it or only asks how much of it the box has. */
const UpdateRequest = strict({
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  bytes: Type.Integer({ minimum: 1, maximum: BUNDLE_MAX }),
  /** Where the piece begins. The box takes it only there where its part of the file ends. */
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: BUNDLE_MAX })),
  /** Base64. */
  piece: Type.Optional(Type.String({ maxLength: PIECE_TEXT_MAX, pattern: '^[A-Za-z0-9+/]*={0,2}$' })),
})
export type UpdateRequest = Static<typeof UpdateRequest>

const UpdateAnswer = strict({
  ok: Type.Literal(true),
  /** The version that runs. */
  version: Type.String({ maxLength: 128 }),
  /** Bytes that the box has. All of them: it has begun to check and install the update. */
  received: Type.Integer({ minimum: 0 }),
})
export type UpdateAnswer = Static<typeof UpdateAnswer>

/** The operation `system_update` of an edge. */
export const SYSTEM_UPDATE = { request: UpdateRequest, answer: UpdateAnswer, status: 200 } as const

/** What a box says about its system in its status. */
export const SystemReport = Type.Object({
  /** Kind of machine, as updates name it. */
  compatible: Type.String({ pattern: '^plenum-[a-z0-9]{1,16}$' }),
  last: Type.Union([UpdateState, Type.Null()]),
})
export type SystemReport = Static<typeof SystemReport>
