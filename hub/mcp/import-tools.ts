/** The tools that bring data in. Both need a token of an operator. */
import { Type } from '@sinclair/typebox'
import { CentralError } from '#shared/central/mcp/central-client.ts'
import { cell, clip, table } from '#shared/central/mcp/answer-text.ts'
import { BUILDING_INPUT, EQUIPMENT_INPUT, tool } from '#shared/central/mcp/tool.ts'
import { DATE_ORDERS } from '#shared/core/csv/timestamp.ts'
import { oneOf, strict } from '#shared/node/http/route.ts'

/** Files of one package that come as text; a larger one is uploaded by a person. */
const FILES_MAX = 200
/** Characters of one file. A request holds at most 8 MiB. */
const TEXT_MAX = 4 * 1024 * 1024

type PreflightReply = {
  session_id: string
  expires_at: string
  verdict: string
  can_execute: boolean
  building_id?: string
  equipment: {
    equipment_id: string
    rows: number
    columns: { header: string; role?: string | null; unit?: string | null; status: string }[]
  }[]
  checks: { code: string; severity: string; message: string; count: number; examples: string[] }[]
  agent_hints: { code: string; action: string; example: string }[]
}

export const preflightTool = tool({
  name: 'openfdd_csv_import_preflight',
  title: 'Check a CSV package',
  effect: 'stages',
  description:
    'Stages a CSV package at central and says what importing it would do: verdict, equipment, columns with the role and unit they get, and each problem with what to do about it. History and model stay as they are; the staged copy expires. A person imports it on the Import page or with POST /api/csv/import/execute.',
  input: strict({
    files: Type.Array(
      strict({
        path: Type.String({ minLength: 1, maxLength: 512, description: 'within the package, such as AHU-1/history_wide.csv' }),
        text: Type.String({ maxLength: TEXT_MAX }),
      }),
      {
        minItems: 1,
        maxItems: FILES_MAX,
        description: 'manifest.json, and for each equipment history_wide.csv and column_map.json',
      },
    ),
  }),
  async answer({ files }, client) {
    const form = new FormData()
    for (const { path, text } of files) form.append('package', new Blob([text]), path)
    return preflightText(await client.post<PreflightReply>('/api/csv/import/preflight', form))
  },
})

function preflightText(reply: PreflightReply): string {
  const { session_id, expires_at, verdict, can_execute, building_id, equipment, checks, agent_hints: hints } = reply
  const columns = equipment.flatMap(({ equipment_id, columns: listed }) =>
    listed.map(({ header, role, unit, status }) => [equipment_id, cell(header), cell(role), cell(unit), status]),
  )
  return clip(
    [
      `Verdict: ${verdict}. ${can_execute ? 'It can be imported' : 'It cannot be imported yet'} (building ${cell(building_id)}, session ${session_id}, until ${expires_at}).`,
      ...checks.map(
        ({ code, severity, message, count, examples }) =>
          `- ${severity} ${code}, ${count} times: ${cell(message, 500)}${examples.length > 0 ? ` (for example ${cell(examples.slice(0, 3).join('; '))})` : ''}`,
      ),
      ...hints.map(({ code, action, example }) => `- to do about ${code}: ${action} Example: ${cell(example, 500)}`),
      ...equipment.map(({ equipment_id, rows }) => `${equipment_id}: ${rows} rows`),
      table(['equipment_id', 'column', 'role', 'unit', 'status'], columns),
    ].join('\n'),
    'the package has more columns; look at the Import page',
  )
}

type AppendReply = {
  rows_in: number
  rows_added: number
  rows_duplicate: number
  rows_rejected: number
  ts_min: string
  ts_max: string
}

export const appendTool = tool({
  name: 'openfdd_csv_package_append',
  title: 'Append a CSV chunk',
  effect: 'writes',
  description:
    'Adds rows of CSV to equipment that a package has brought, with the same columns. Repeating a chunk adds nothing. Takes confirm: true, because it changes history.',
  input: strict({
    confirm: Type.Optional(Type.Boolean({ description: 'true says that the history may be changed' })),
    building_id: BUILDING_INPUT,
    equipment_id: EQUIPMENT_INPUT,
    csv: Type.String({ maxLength: TEXT_MAX, description: 'header line and rows, as in history_wide.csv' }),
    date_order: Type.Optional(oneOf(DATE_ORDERS)),
  }),
  async answer(given, client) {
    if (given.confirm !== true) throw new CentralError('confirm_required', 'This changes data', ['Call again with confirm: true'])
    const reply = await client.post<AppendReply>('/api/csv/import/package/append', given)
    const { rows_in, rows_added, rows_duplicate, rows_rejected, ts_min, ts_max } = reply
    return `${rows_added} of ${rows_in} rows added, ${rows_duplicate} were there already, ${rows_rejected} rejected; from ${ts_min} to ${ts_max}.`
  },
})
