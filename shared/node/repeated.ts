type Repeated = {
  /** Runs the work now, or waits for the run that is in progress. */
  run(): Promise<void>
  /** From now on it runs again and again. */
  start(): void
  /** Waits for the run that is in progress. */
  stop(): Promise<void>
}

/** Work that is repeated, one run at a time. @param work reports what fails, and does not reject */
export function repeated(work: () => Promise<void>, everyMs: number): Repeated {
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  const run = () => (running ??= work().finally(() => (running = undefined)))
  return {
    run,
    start: () => void (timer = setInterval(() => void run(), everyMs)),
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
