/** The page and the API of what the levels of priority arrays are called at this site. */
import { type TSchema, Type } from '@sinclair/typebox'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { PriorityLevels } from '#shared/core/priority/level-settings.ts'
import { type LevelMeaning, levelMeanings, levelSettings } from '#shared/core/priority/priority-levels.ts'
import { LEVELS } from '#shared/core/priority/priority-record.ts'
import { Problem } from '#shared/core/problem.ts'
import { say } from '#shared/node/http/language.ts'
import { type AuditNote, type Route, route, strict } from '#shared/node/http/route.ts'
import { ConfigError } from '../store/json-file.ts'
import type { SettingsFile } from '../store/settings-file.ts'
import type { SiteSettings } from '../store/site.ts'
import { levelsBody } from './levels.view.ts'

export const LEVELS_PATH = '/site/levels'

const NUMBERS = Array.from({ length: LEVELS }, (_, i) => i + 1)
/** A blank name is that of the standard. */
const NAME = Type.String({ maxLength: 60 })
const Form = strict({
  ...Object.fromEntries(NUMBERS.map(level => [`name_${level}`, NAME])),
  ...Object.fromEntries(NUMBERS.map((level): [string, TSchema] => [`override_${level}`, Type.Optional(Type.Literal('yes'))])),
})
const Reply = Type.Object({
  ok: Type.Literal(true),
  levels: Type.Array(
    Type.Object({ level: Type.Integer(), name: Type.String(), override: Type.Boolean(), standard: Type.Boolean() }),
  ),
})

type LevelsParts = { file: SettingsFile<SiteSettings>; building_id: string }

export function levelsRoutes({ file, building_id }: LevelsParts, layout: PageLayout): Route[] {
  const current = () => levelMeanings(file.current().priority_levels)
  const change = { auth: 'admin', action: 'change_priority_levels', problems: ['invalid'] } as const
  const save = async (next: LevelMeaning[], audit: (note: AuditNote) => void) => {
    // A kit that was adopted has written the file, too.
    const { priority_levels, ...site } = await file.reread()
    const levels = levelSettings(next)
    await file.replace({ ...site, ...(levels.length > 0 && { priority_levels: levels }) })
    audit({ subject: building_id, building_id, before: priority_levels ?? [], after: levels })
  }
  const answer = () => {
    const standard = levelMeanings()
    const isStandard = ({ name, override }: LevelMeaning, i: number) =>
      name === standard[i]!.name && override === standard[i]!.override
    const levels = current().map((one, i) => ({ level: i + 1, ...one, standard: isStandard(one, i) }))
    return { ok: true as const, levels }
  }
  return [
    route({
      method: 'GET',
      path: LEVELS_PATH,
      auth: 'admin',
      summary: 'The page of the names of priority levels',
      query: strict({ saved: Type.Optional(Type.Literal('1')) }),
      handle: call => {
        const body = levelsBody({ levels: current(), isSaved: call.query.saved === '1', csrf: layout.csrfOf(call.caller) })
        return layout.document(call, { title: say`Priority levels`, current: LEVELS_PATH }, body)
      },
    }),
    route({
      ...change,
      method: 'POST',
      path: LEVELS_PATH,
      summary: 'The form of the names of priority levels',
      takes: 'form',
      body: Form,
      handle: async ({ body, audit, reply }) => {
        const typed = body as Record<string, string | undefined>
        const next = levelMeanings().map(({ name }, i) => ({
          name: typed[`name_${i + 1}`]?.trim() || name,
          override: typed[`override_${i + 1}`] === 'yes',
        }))
        await save(next, audit)
        return reply.redirect(`${LEVELS_PATH}?saved=1`, 303)
      },
    }),
    route({
      method: 'GET',
      path: '/api/site/priority-levels',
      auth: 'viewer',
      summary: 'What the sixteen levels of priority arrays are called at this site, and which of them are overrides',
      reply: Reply,
      handle: answer,
    }),
    route({
      ...change,
      method: 'PUT',
      path: '/api/site/priority-levels',
      summary: 'Changes names and meanings of priority levels; those that are left out are as in the standard',
      body: strict({ levels: PriorityLevels }),
      reply: Reply,
      handle: async ({ body, audit }) => {
        try {
          file.check({ ...file.current(), priority_levels: body.levels })
        } catch (error) {
          if (!(error instanceof ConfigError)) throw error
          throw new Problem('invalid', error.complaints[0]?.message ?? error.message, error.complaints)
        }
        await save(levelMeanings(body.levels), audit)
        return answer()
      },
    }),
  ]
}
