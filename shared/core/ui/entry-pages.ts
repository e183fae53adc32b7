/** Pages outside the daily round: login, and what is shown when a request fails. */
import { type Html, html } from '../html.ts'

/** @param next where to go afterwards, a path of this site */
export const loginBody = ({
  next,
  error,
  name,
}: {
  next: string
  error?: string
  name?: string
}): Html => html`<section class="card login">
<h1>Sign in</h1>
${error !== undefined && html`<p class="notice" role="alert" id="login-error">${error}</p>`}
<form method="post" action="/login">
<input type="hidden" name="next" value="${next}">
<label>Name<input name="username" autocomplete="username" required value="${name}" autocapitalize="none"${error !== undefined && html` aria-describedby="login-error"`}></label>
<label>Password<input name="password" type="password" autocomplete="current-password" required></label>
<button class="primary">Sign in</button>
</form>
</section>`

/** A request that failed: what happened, and the way back. */
export const problemBody = ({
  title,
  detail,
  request_id,
}: {
  title: string
  detail: string
  request_id: string
}): Html => html`<section class="card">
<h1>${title}</h1>
<p>${detail}</p>
<p><a href="/">To the first page</a> <span class="muted">Request ${request_id}</span></p>
</section>`
