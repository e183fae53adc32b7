/** The frame around every page: title, place, navigation, version. The same on the box and on the hub. */
import { type Html, html } from '#shared/node/http/html.ts'
import { moment, type Here } from './moment.ts'

/** Addresses of the few files that a page asks for; they carry a hash, so a browser may cache them without limit. */
export type Assets = { css: string; script: string; htmx: string; icon: string }
/** `for`: the role that a page needs; the entry is hidden from people without it. */
export type NavItem = { href: string; text: string; count?: number; for?: 'operator' | 'admin' }
/** The parts that all pages of a process share. */
export type Site = {
  /** `appliance` pages have larger controls. */
  product: 'appliance' | 'hub'
  /** Name of the box or of the hub, as people call it. */
  name: string
  nav: NavItem[]
  /** `x.y.z+revision` */
  version: string
  assets: Assets
  /** Whether everyone on this machine may do everything, for development. */
  open: boolean
}
/** `mustChangePassword`: signed in with a first password, so that no page but that of the password opens. */
export type User = { name: string; role: string; mayOperate: boolean; mustChangePassword?: true }
export type Frame = {
  site: Site
  title: string
  /** `href` of the current entry of the navigation. */
  current: string
  here: Here
  user: User | undefined
  /** Goes into every form; the server compares it. */
  csrf: string
}

/** A whole document. */
export const page = (frame: Frame, body: Html): Html => html`<!doctype html>
<html lang="en" class="${frame.site.product}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${frame.title} · ${frame.site.name} · Plenum</title>
<link rel="icon" href="${frame.site.assets.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${frame.site.assets.css}">
<script src="${frame.site.assets.htmx}" defer></script>
<script src="${frame.site.assets.script}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${header(frame)}
${frame.site.open && notice()}
<main id="main" tabindex="-1">
${body}
</main>
${footer(frame)}
</body>
</html>
`

const header = ({ site, current, user, csrf }: Frame): Html => html`<header class="top">
<p class="brand"><span class="product">Plenum</span> <span class="place">${site.name}</span></p>
${user && !user.mustChangePassword && html`<nav aria-label="Pages"><ul>${site.nav.filter(item => isFor(item, user)).map(item => navItem(item, current))}</ul></nav>`}
${user && !site.open && signOut(user, csrf)}
</header>`

const isFor = ({ for: role }: NavItem, user: User): boolean =>
  role === undefined || user.role === 'admin' || (role === 'operator' && user.mayOperate)

const navItem = ({ href, text, count }: NavItem, current: string): Html =>
  html`<li><a href="${href}"${href === current && html` aria-current="page"`}>${text}${
    count !== undefined && count > 0 && html` <span class="count">${count}</span>`
  }</a></li>`

const signOut = ({ name, role }: User, csrf: string): Html => html`<form class="session" method="post" action="/logout">
<input type="hidden" name="csrf" value="${csrf}">
<span><a href="/password">${name}</a>${name !== role && ` (${role})`}</span> <button>Sign out</button>
<button formaction="/logout/everywhere">Sign out everywhere</button>
</form>`

const notice = (): Html =>
  html`<p class="notice" role="note">Open for development: everyone on this machine may do everything.</p>`

const footer = ({ site, here }: Frame): Html => html`<footer>
<p>Plenum ${versionText(site.version)}</p>
<p>Page made ${moment(here.now, here)}, times in ${here.timezone}</p>
</footer>`

/** Digits of a revision that a page shows. */
const SHORT_REVISION = 7
/** A version with a short revision; the line may break before the revision and nowhere else. */
export function versionText(version: string): Html {
  const [release, revision] = version.split('+')
  return html`<span class="version">${release}${revision !== undefined && html`<wbr>+${revision.slice(0, SHORT_REVISION)}`}</span>`
}

/** A hidden field for every form that changes something. */
export const csrfField = (csrf: string): Html => html`<input type="hidden" name="csrf" value="${csrf}">`

/**
 * A control that a viewer sees but may not use says why.
 *
 * @param id names the sentence that explains, for screen readers
 */
export const operatorButton = (user: User | undefined, id: string, text: string, kind = ''): Html =>
  user?.mayOperate
    ? html`<button class="${kind}">${text}</button>`
    : html`<button class="${kind}" disabled aria-describedby="${id}">${text}</button>
<p class="why" id="${id}">Needs the operator role; you are signed in as ${user?.role ?? 'nobody'}.</p>`
