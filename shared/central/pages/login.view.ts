/** Pages outside the daily round: login, and what is shown when a request fails. */
import { type Html, html } from '#shared/node/http/html.ts'

/** A form that could not be taken. `action` and `back` are paths of this site. */
export type TypedForm = { action: string; back: string; fields: [name: string, value: string][] }

/**
 * @param next where to go afterwards, a path of this site
 * @param typed what waits to be sent, and as the form carries it
 */
export const loginBody = ({
  next,
  error,
  name,
  typed,
}: {
  next: string
  error?: string
  name?: string
  typed?: TypedForm & { text: string }
}): Html => html`<section class="card login">
<h1>Sign in</h1>
${error !== undefined && html`<p class="notice" role="alert" id="login-error">${error}</p>`}
<form method="post" action="/login">
<input type="hidden" name="next" value="${next}">
${typed && html`<input type="hidden" name="typed" value="${typed.text}">`}
<label>Name<input name="username" autocomplete="username" required value="${name}" autocapitalize="none"${error !== undefined && html` aria-describedby="login-error"`}></label>
<label>Password<input name="password" type="password" autocomplete="current-password" required></label>
<button class="primary">Sign in</button>
</form>
${typed && typedList(typed)}
</section>`

const typedList = ({ fields }: TypedForm): Html =>
  html`<h2>What you typed</h2><dl class="values">${fields.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value || '–'}</dd></div>`)}</dl>`

/** After the sign-in: the form again, for a person to send. */
export const sendTypedBody = (typed: TypedForm, csrf: string): Html => html`<section class="card login">
<h1>You are signed in</h1>
<p>This was not sent yet.</p>
${typedList(typed)}
<form method="post" action="${typed.action}">
<input type="hidden" name="csrf" value="${csrf}">
${typed.fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<button class="primary">Send it now</button>
</form>
<p><a href="${typed.back}">Drop it and go back</a></p>
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
