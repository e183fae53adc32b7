/** `scripts/up`: runs a recipe of `image/recipes/deployments.ts` as processes on this machine. */
import { readVersion } from '#shared/node/version.ts'
import { startRecipe, stopRecipe } from './lib-up/control.ts'
import { EXIT, UpError } from './lib-up/exit.ts'
import { readUpOptions, UP_USAGE, type UpOptions } from './lib-up/up-options.ts'
import { type Plan, planOf } from './lib-up/plan.ts'
import { findRunning, refuseDowngrade, type RunningRecipe } from './lib-up/state.ts'
import { isHealthy } from '#image/containers/health-check.ts'

const say = (text: string) => void process.stdout.write(`${text}\n`)

async function run(options: UpOptions): Promise<number> {
  switch (options.command) {
    case 'start':
      return start(options)
    case 'stop':
      refuseOther(options)
      say(
        (await stopRecipe(options.data))
          ? `${options.recipe} is stopped; its data stays in ${options.data}`
          : NOT_RUNNING(options),
      )
      return EXIT.ok
    case 'status':
      return status(options)
    case 'upgrade':
      return upgrade(options)
  }
}

const NOT_RUNNING = ({ recipe, data }: UpOptions): string => `${recipe} does not run in ${data}`

/** @throws UpError where another recipe runs in the folder: a wrong folder was given */
function refuseOther({ recipe, data }: UpOptions): void {
  const running = findRunning(data)
  if (running && running.recipe !== recipe) throw new UpError('refused', `${running.recipe} runs in ${data}, not ${recipe}`)
}

/** A name that is written wrong would else be without effect, and nobody told. */
function planWithWarnings(options: UpOptions): Plan {
  const plan = planOf(options, process.env)
  for (const name of plan.unknown) process.stderr.write(`${options.envFile}: the recipe ${plan.recipe} has no setting ${name}\n`)
  return plan
}

async function start(options: UpOptions): Promise<number> {
  const plan = planWithWarnings(options)
  const running = findRunning(options.data)
  if (running) throw new UpError('refused', `${running.recipe} runs already in ${options.data} (process ${running.pid})`)
  refuseDowngrade(options.data, plan.version)
  report(options, await startRecipe(plan))
  return EXIT.ok
}

/** The settings are checked before anything is stopped. */
async function upgrade(options: UpOptions): Promise<number> {
  const plan = planWithWarnings(options)
  refuseOther(options)
  const running = findRunning(options.data)
  if (running?.version === plan.version) {
    say(`${running.recipe} runs ${plan.version} already`)
    return EXIT.ok
  }
  refuseDowngrade(options.data, plan.version)
  if (running) await stopRecipe(options.data)
  report(options, await startRecipe(plan))
  return EXIT.ok
}

async function status(options: UpOptions): Promise<number> {
  const running = findRunning(options.data)
  const parts = await Promise.all((running?.parts ?? []).map(async part => ({ ...part, healthy: await isHealthy(part.probe) })))
  if (options.json) say(JSON.stringify({ running: running !== undefined, ...running, parts }))
  else if (!running) say(NOT_RUNNING(options))
  else {
    say(`${running.recipe} ${running.version}, in ${options.data}, here ${readVersion()}`)
    for (const { component, pid, url, healthy } of parts)
      say(`  ${component.padEnd(14)} ${healthy ? 'healthy ' : 'not well'} process ${pid}  ${url}`)
  }
  return parts.length > 0 && parts.every(({ healthy }) => healthy) ? EXIT.ok : EXIT.failed
}

function report({ json, data }: UpOptions, running: RunningRecipe): void {
  if (json) return say(JSON.stringify({ running: true, ...running }))
  say(`${running.recipe} ${running.version} runs; its data and logs are in ${data}`)
  for (const { component, url } of running.parts) say(`  ${component.padEnd(14)} ${url}`)
}

const options = readUpOptions(process.argv.slice(2), process.env)
if (options === 'help') process.stdout.write(UP_USAGE)
else if ('wrong' in options) {
  process.stderr.write(`${options.wrong}\n${UP_USAGE}`)
  process.exitCode = EXIT.usage
} else {
  process.exitCode = await run(options).catch(error => {
    if (!(error instanceof UpError)) throw error
    process.stderr.write(`${error.message}\n`)
    return EXIT[error.kind]
  })
}
