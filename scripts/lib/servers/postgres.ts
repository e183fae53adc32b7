/** Debian's PostgreSQL in a folder of its own, durable as it is by default. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const VERSIONS = '/usr/lib/postgresql'
/** PostgreSQL does not run as root. */
const AS_NOBODY = ['--reuid=nobody', '--regid=nogroup', '--clear-groups']

export type Postgres = {
  /** `postgres://…` for clients over TCP. */
  url: string
  /** Runs SQL with psql over the socket. */
  sql(text: string): void
  /** @throws Error when it does not start */
  start(): Promise<void>
  /** Ends all its processes at once, as a power cut would, and waits until they are gone. */
  kill(): Promise<void>
  /** Stops all its processes as they are: connections stay open, and nothing answers. */
  pause(): void
  resume(): void
}

export const hasPostgres = (): boolean => existsSync(VERSIONS)

/**
 * Makes a database below `folder` and starts it.
 *
 * @throws Error when it is not installed or does not start
 */
export async function startPostgres(folder: string, port: number): Promise<Postgres> {
  if (!hasPostgres()) throw new Error('PostgreSQL is not here: apt-get install postgresql')
  const bin = join(VERSIONS, readdirSync(VERSIONS).toSorted().at(-1)!, 'bin')
  const dir = join(folder, 'postgres')
  const data = join(dir, 'data')
  const run = (program: string, args: string[], input?: string) =>
    execFileSync('setpriv', [...AS_NOBODY, join(bin, program), ...args], {
      ...(input !== undefined && { input }),
      stdio: ['pipe', 'ignore', 'ignore'],
    })
  mkdirSync(dir)
  execFileSync('chmod', ['755', folder])
  execFileSync('chown', ['nobody:nogroup', dir])
  run('initdb', ['-D', data, '-A', 'trust', '-U', 'plenum'])
  const start = async () => {
    const args = ['-D', data, '-w', '-o', `-k ${dir} -h 127.0.0.1 -p ${port}`, '-l', join(dir, 'log'), 'start']
    const starting = spawn('setpriv', [...AS_NOBODY, join(bin, 'pg_ctl'), ...args], { stdio: 'ignore' })
    const [code] = await once(starting, 'exit')
    if (code !== 0) throw new Error(`PostgreSQL does not start: ${readFileSync(join(dir, 'log'), 'utf8')}`)
  }
  const pid = () => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
  const signalAll = (signal: NodeJS.Signals) => {
    for (const id of [pid(), ...childrenOf(pid())]) sendSignal(id, signal)
  }
  await start()
  return {
    url: `postgres://plenum@127.0.0.1:${port}/postgres`,
    sql: text =>
      void run('psql', ['-h', dir, '-p', String(port), '-U', 'plenum', '-d', 'postgres', '-q', '-v', 'ON_ERROR_STOP=1'], text),
    start,
    async kill() {
      const id = pid()
      signalAll('SIGKILL')
      while (existsSync(`/proc/${id}`)) await sleep(20)
    },
    pause: () => signalAll('SIGSTOP'),
    resume: () => signalAll('SIGCONT'),
  }
}

/** They have groups of their own. */
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    // It has ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
