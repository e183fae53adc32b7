/** `hub/tenants/main.ts migrate`: moves buildings of the hub into a tenant's workspace, on the machine of the hub. */
import { parseArgs } from 'node:util'
import { errorText } from '#shared/core/error-text.ts'
import { type Environment, readEnv } from '#shared/core/env.ts'
import { Problem } from '#shared/core/problem.ts'
import { moveBuildings } from './move-buildings.ts'
import { type MovePlan, type PlannedBuilding, planMove } from './move-plan.ts'

/** Contract §9. */
const EXIT = { ok: 0, usage: 2, refused: 3, rolledBack: 5, configuration: 78 } as const

const VARIABLES = {
  SERVICE_WORKSPACE: { kind: 'text', default: '/workspace', doc: 'the workspace of the hub' },
  SERVICE_PARQUET_ROOT: { kind: 'text', doc: 'folder of sealed history, where the hub has it outside of the workspace' },
} as const

const USAGE = `Usage: hub/tenants/main.ts migrate --tenant ID [--building ID]... [--apply] [--json]

  Moves buildings of the hub's own workspace, all or those that are named, into the workspace of a tenant: model, edges,
  history, findings, notes, settings. Without --apply it says what would move and changes nothing. With it the hub must be
  stopped; a move that was interrupted is ended by the same command. The edges need a kit of the tenant afterwards.
  Users, tokens, alert routes, deployed rules and the audit log stay with the hub.

  Environment: SERVICE_WORKSPACE, SERVICE_PARQUET_ROOT, as the hub has them.

Exit codes: 0 done, 2 usage, 3 refused, 5 interrupted by an error, 78 a setting, folder or file cannot be used.
`

type Output = { exit: number; stdout: string; stderr: string }
type Options = { now: () => number; onStep: (text: string) => void }

/** Carries out one command line. @param argv without program and script */
export async function runMigrate(argv: string[], env: Environment, options: Options): Promise<Output> {
  if (argv.includes('--help')) return { exit: EXIT.ok, stdout: USAGE, stderr: '' }
  const given = argumentsOf(argv)
  if (typeof given === 'string') return { exit: EXIT.usage, stdout: '', stderr: `${given}\n\n${USAGE}` }
  const read = readEnv(VARIABLES, { env }, () => '')
  if (!read.ok) return { exit: EXIT.configuration, stdout: '', stderr: `${read.complaints.join('\n')}\n` }
  const { SERVICE_WORKSPACE: workspace, SERVICE_PARQUET_ROOT: parquetRoot } = read.settings
  const { tenant: tenant_id, building: building_ids, apply, json } = given
  let isBegun = false
  const onStep = (text: string) => {
    isBegun = true
    options.onStep(text)
  }
  try {
    const plan = apply
      ? await moveBuildings({ workspace, parquetRoot, tenant_id, building_ids, ...options, onStep })
      : planMove(workspace, tenant_id, building_ids)
    const text = json ? `${JSON.stringify({ ok: true, applied: apply, ...plan })}\n` : textOf(plan, apply)
    return { exit: EXIT.ok, stdout: text, stderr: '' }
  } catch (error) {
    const exit = error instanceof Problem ? EXIT.refused : isBegun ? EXIT.rolledBack : EXIT.configuration
    return { exit, ...failure(error, { json, isBegun }) }
  }
}

function argumentsOf(argv: string[]) {
  const strings = { tenant: { type: 'string' }, building: { type: 'string', multiple: true } } as const
  const flags = { apply: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } } as const
  try {
    const { values, positionals } = parseArgs({ args: argv, options: { ...strings, ...flags }, allowPositionals: true })
    if (positionals.length !== 1 || positionals[0] !== 'migrate') return 'The command is migrate'
    const { tenant } = values
    return tenant === undefined ? 'missing: --tenant' : { ...values, tenant }
  } catch (error) {
    return errorText(error)
  }
}

function failure(error: unknown, { json, isBegun }: { json: boolean; isBegun: boolean }): Pick<Output, 'stdout' | 'stderr'> {
  const { code, errors } = error instanceof Problem ? error : { code: 'internal', errors: [] }
  const lines = [errorText(error), ...errors.slice(1).map(({ message }) => message)]
  if (isBegun) lines.push('Nothing is lost: run the same command again before the hub is started')
  return {
    stdout: json ? `${JSON.stringify({ ok: false, code, error: errorText(error), errors })}\n` : '',
    stderr: `${lines.join('\n')}\n`,
  }
}

function textOf({ tenant_id, buildings, conflicts }: MovePlan, isApplied: boolean): string {
  const line = ({ building_id, name, state, edges, points, findings, files, bytes }: PlannedBuilding) =>
    `${building_id} (${name}): ${WORDS[state]}; ${points} points, ${findings} findings, ${files} files of ${bytes} bytes, edges ${edges.join(', ') || 'none'}\n`
  const moved = buildings.map(line).join('')
  const refused = conflicts.map(({ message }) => `conflict: ${message}\n`).join('')
  const end = isApplied
    ? `moved to the tenant ${tenant_id}. The edges need a kit of it: provisioning/main.ts kit --tenant ${tenant_id}\n`
    : `nothing was changed; --apply moves them to the tenant ${tenant_id}\n`
  return `${moved}${refused}${end}`
}

const WORDS = { here: 'of the hub', interrupted: 'its move was interrupted', moved: 'moved already' } as const
