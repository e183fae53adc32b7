/** Runs tasks one after the other, in the order they came; one that fails does not hold up the next. */
export function serial(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return task => {
    const run = last.then(task)
    last = run.catch(() => undefined)
    return run
  }
}
