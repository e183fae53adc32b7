/** The page on which people change their own password. */
import { PASSWORD_RULE } from '#shared/core/auth/users.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import { say } from '#shared/node/http/language.ts'

type PasswordForm = {
  csrf: string
  username: string
  /** The next page, a path of this site. */
  next: string
  /** A form that waits to be sent, as `formatTyped` writes it. */
  typed: string | undefined
  error?: string
}

/** After a sign-in with a first password, which opens nothing else. */
export const firstPasswordBody = (form: PasswordForm): Html => html`<section class="card login">
<h1>Choose your password</h1>
<p>You signed in with a first password. Choose your own to go on.</p>
${fields(form, say`First password`)}
</section>`

export const passwordBody = (form: PasswordForm): Html => html`<section class="card login">
<h1>Change your password</h1>
<p>Every browser and script that is signed in as ${form.username} is signed out.</p>
${fields(form, say`Present password`)}
</section>`

/** @param why the login has no password that can be changed here */
export const noPasswordBody = (why: string): Html => html`<section class="card login">
<h1>Change your password</h1>
<p>${why}.</p>
</section>`

const fields = ({ csrf, username, next, typed, error }: PasswordForm, present: string): Html =>
  html`${error !== undefined && html`<p class="notice" role="alert" id="password-error">${error}</p>`}
<form method="post" action="/password">${csrfField(csrf)}
<input type="hidden" name="next" value="${next}">
${typed !== undefined && html`<input type="hidden" name="typed" value="${typed}">`}
<input type="text" name="username" value="${username}" autocomplete="username" hidden>
<label>${present}<input name="password" type="password" autocomplete="current-password" required></label>
<label>New password<input name="new_password" type="password" autocomplete="new-password" required aria-describedby="password-rule"></label>
<p class="muted" id="password-rule">${PASSWORD_RULE}</p>
<label>New password again<input name="new_password_again" type="password" autocomplete="new-password" required></label>
<button class="primary">Set password</button>
</form>`
