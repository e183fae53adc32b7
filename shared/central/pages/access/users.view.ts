/** The page of people and tokens. */
import { USER_ROLES } from '#shared/core/auth/users.ts'
import type { Building } from '#shared/core/model/model.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { type ShownToken, TOKEN_DAYS } from '#shared/central/commands/api-tokens.ts'
import type { ShownUser } from '#shared/central/commands/users.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import { type Here, moment } from '#shared/central/ui/moment.ts'
import { loginRole } from '#shared/central/ui/words.ts'
import { say } from '#shared/node/http/language.ts'

type UsersModel = {
  /** Undefined for an admin of a tenant, who adds tokens alone. */
  users: ShownUser[] | undefined
  tokens: ShownToken[]
  buildings: Building[]
  /** User name of the reader: nobody changes their own role or lock. */
  caller: string
  here: Here
  csrf: string
}

export const usersBody = (model: UsersModel): Html => html`<h1>Users</h1>
${model.users ? people(model.users, model) : html`<p class="lead">People are added by an admin of the hub. Tokens that you add act in this tenant alone.</p>`}
<section class="card" id="tokens"><h2>Tokens</h2>
<p>For scripts and agents. A token always expires; one that reads changes nothing, whatever its role.</p>
${model.tokens.length > 0 ? tokenTable(model) : html`<p>None yet.</p>`}</section>
${tokenForm(model)}`

const people = (
  users: ShownUser[],
  model: UsersModel,
): Html => html`<p class="lead">People with a name and a role of their own. The logins admin, agent and viewer are set in the settings of the process.</p>
<section class="card"><h2>People</h2>${users.length > 0 ? userTable(users, model) : html`<p>None yet.</p>`}</section>
${userForm(model)}`

/** Shown once, after a person or a token was added. */
export const secretBody = ({
  of,
  name,
  secret,
}: {
  of: 'user' | 'token'
  name: string
  secret: string
}): Html => html`<h1>Users</h1>
<section class="card"><h2>${of === 'user' ? say`First password of ${name}` : say`Token ${name}`}</h2>
<p>${of === 'user' ? say`It is shown only now, and opens nothing but the choice of another password, for 7 days.` : say`It is shown only now. Send it as Authorization: Bearer.`}</p>
<p><code data-secret>${secret}</code></p>
<p><a href="/users">Back to the users</a></p></section>`

const userTable = (
  users: ShownUser[],
  model: UsersModel,
): Html => html`<table class="tried"><thead><tr><th scope="col">User</th><th scope="col">Role</th><th scope="col">Last sign-in</th><th scope="col">State</th><th scope="col">Change</th></tr></thead>
<tbody>${users.map(user => userRow(user, model))}</tbody></table>`

const userRow = (user: ShownUser, model: UsersModel): Html => html`<tr>
<td data-label="User"><div>${user.username} <span class="muted">${user.name}</span></div></td>
<td data-label="Role"><div>${loginRole(user.role)}</div></td>
<td data-label="Last sign-in"><div>${user.last_login_at === null ? say`never` : moment(user.last_login_at, model.here)}</div></td>
<td data-label="State"><div>${stateText(user, model.here)}</div></td>
<td data-label="Change"><div>${user.username === model.caller ? say`yourself` : changeForms(user, model.csrf)}</div></td></tr>`

function stateText({ locked_at, must_change_password, password_expires_at }: ShownUser, here: Here): Html {
  if (locked_at !== null) return html`<strong>locked</strong> ${moment(locked_at, here)}`
  if (!must_change_password || password_expires_at === null) return html`active`
  return password_expires_at <= here.now
    ? html`first password expired ${moment(password_expires_at, here)}`
    : html`first password, until ${moment(password_expires_at, here)}`
}

function changeForms({ username, role, locked_at }: ShownUser, csrf: string): Html {
  const form = (action: string, fields: Html) =>
    html`<form method="post" action="/users/${action}">${csrfField(csrf)}<input type="hidden" name="username" value="${username}">${fields}</form>`
  const isLocked = locked_at !== null
  return html`<div class="buttons">${form(
    'change',
    html`<select name="role" aria-label="Role of ${username}">${roleOptions(role)}</select> <button>Set role</button>`,
  )}
${form('change', html`<button name="locked" value="${String(!isLocked)}">${isLocked ? say`Unlock` : say`Lock`}</button>`)}
${explainedForm(
  say`Reset password`,
  say`Every session of ${username} ends, and a first password is shown once.`,
  form('reset-password', html`<button>Reset password</button>`),
)}
${explainedForm(
  say`Delete`,
  say`${username} is signed out at once and cannot sign in again. What was done under this name stays in the audit log.`,
  form('remove', html`<button>Delete</button>`),
)}</div>`
}

/** A form behind its name: opened, it says what it does before it is sent. */
const explainedForm = (summary: string, meaning: string, form: Html): Html =>
  html`<details><summary>${summary}</summary><p>${meaning}</p>${form}</details>`

const roleOptions = (chosen: string): Html[] =>
  USER_ROLES.map(role => html`<option value="${role}"${role === chosen && html` selected`}>${loginRole(role)}</option>`)

const userForm = ({ csrf }: UsersModel): Html => html`<section class="card"><h2>Add a person</h2>
<form class="fields" method="post" action="/users">${csrfField(csrf)}
<label>User name <input name="username" required maxlength="64" pattern="[a-z0-9][a-z0-9._@\\-]*" autocapitalize="none" autocomplete="off"></label>
<label>Name <input name="name" maxlength="100" autocomplete="off"></label>
<label>Role <select name="role">${roleOptions('viewer')}</select></label>
<button>Add person</button></form></section>`

const tokenTable = ({ tokens, buildings, here, csrf }: UsersModel): Html => {
  const names = new Map(buildings.map(({ building_id, name }) => [building_id, name]))
  return html`<table class="tried"><thead><tr><th scope="col">Token</th><th scope="col">May do</th><th scope="col">Expires</th><th scope="col">Last used</th><th scope="col">Change</th></tr></thead>
<tbody>${tokens.map(
    ({ token_id, name, role, scope, building_id, expires_at, last_used_at }) => html`<tr>
<td data-label="Token"><div>${name}</div></td>
<td data-label="May do"><div>${scope === 'read' ? say`read as ${loginRole(role)}` : say`all that ${loginRole(role)} may`}${building_id !== null && say`, in ${names.get(building_id) ?? building_id}`}</div></td>
<td data-label="Expires"><div>${moment(expires_at, here)}${expires_at <= here.now && html` <strong>expired</strong>`}</div></td>
<td data-label="Last used"><div>${last_used_at === null ? say`never` : moment(last_used_at, here)}</div></td>
<td data-label="Change"><div>${explainedForm(
      say`Revoke`,
      say`Whatever uses ${name} is refused at once. It cannot be taken back.`,
      html`<form method="post" action="/users/tokens/revoke">${csrfField(csrf)}<input type="hidden" name="token_id" value="${token_id}"><button>Revoke</button></form>`,
    )}</div></td></tr>`,
  )}</tbody></table>`
}

const tokenForm = ({ buildings, csrf }: UsersModel): Html => html`<section class="card"><h2>Add a token</h2>
<form class="fields" method="post" action="/users/tokens">${csrfField(csrf)}
<label>Token name <input name="name" required maxlength="64" autocomplete="off"></label>
<label>Role <select name="role">${roleOptions('viewer')}</select></label>
<label>May <select name="scope"><option value="read">read only</option><option value="role">all that its role may</option></select></label>
<label>Building <select name="building_id"><option value="">all</option>${buildings.map(
  ({ building_id, name }) => html`<option value="${building_id}">${name}</option>`,
)}</select></label>
<label>Days <input name="days" type="number" min="${TOKEN_DAYS.min}" max="${TOKEN_DAYS.max}" value="${TOKEN_DAYS.default}" required></label>
<button>Add token</button></form></section>`
