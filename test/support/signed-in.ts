/** The answer whose text has the blanks of a figure and its unit as people read them: that they do not break has a test of its own. */
export function asRead(answer: Response): Response {
  const text = answer.text.bind(answer)
  return Object.assign(answer, { text: async () => (await text()).replaceAll('\u00a0', ' ') })
}

/** A browser without a window: signed in, it gets pages and sends their forms. */
const FORM = 'application/x-www-form-urlencoded'

export async function signedIn(url: string, username: string, password: string) {
  const asBrowser = { accept: 'text/html,*/*', origin: url }
  const answer = await fetch(`${url}/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { ...asBrowser, 'content-type': FORM },
    body: new URLSearchParams({ username, password, next: '/' }).toString(),
  })
  const cookie = answer.headers
    .getSetCookie()
    .map(one => one.split(';')[0])
    .join('; ')
  const headers = { ...asBrowser, cookie }
  const get = async (path: string) => asRead(await fetch(url + path, { redirect: 'manual', headers }))
  /** Sends a form with the token of the page `from`. */
  async function post(path: string, from: string, fields: Record<string, string> = {}) {
    const csrf = /name="csrf" value="([^"]+)"/.exec(await (await get(from)).text())?.[1] ?? ''
    const body = new URLSearchParams({ ...fields, csrf }).toString()
    return fetch(url + path, { method: 'POST', redirect: 'manual', headers: { ...headers, 'content-type': FORM }, body })
  }
  /** Sends a form with files. */
  const send = (path: string, body: FormData) => fetch(url + path, { method: 'POST', redirect: 'manual', headers, body })
  return { get, post, send }
}
