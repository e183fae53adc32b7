/** Starts a task when all earlier tasks have ended. */
export type SerialQueue = <T>(task: () => Promise<T>) => Promise<T>

/**
 * Runs tasks one after the other, in the order of their calls. A task that fails does not stop the tasks after it.
 *
 * @returns a function whose promise settles as its task does
 */
export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve()
  return task => {
    const result = last.then(task)
    last = result.catch(() => undefined)
    return result
  }
}
