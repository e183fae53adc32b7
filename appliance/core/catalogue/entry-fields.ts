/** Schemas that the entries of the list of field devices and the sections of the drivers are built from. */
import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'

export const PORT_MAX = 65_535

export const strict = { additionalProperties: false }
export const choice = <const T extends readonly string[]>(choices: T, description: string) =>
  Type.Unsafe<T[number]>(Type.String({ enum: [...choices], pattern: `^(${choices.join('|')})$`, description }))
export const integer = (minimum: number, maximum: number, description: string) => Type.Integer({ minimum, maximum, description })
export const id = (description: string) => Type.String({ ...ID, description })
