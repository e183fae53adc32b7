/** The frame around every page: title, place, navigation, version. The same on the box and on the hub. */
import type { Preferences } from '#shared/core/preferences.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { scriptTexts } from './language/script-texts.ts'
import { moment, type Here } from './moment.ts'
import { loginRole } from './words.ts'
import { currentLanguage, say } from '#shared/node/http/language.ts'

/** Addresses of the few files that a page asks for; they carry a hash, so a browser may cache them without limit. */
export type Assets = { css: string; script: string; htmx: string; icon: string } & PlotAssets
/** Only pages with the plot that zooms ask for these. `trendParts`: the modules that `trends` imports. */
export type PlotAssets = { trends: string; trendParts: readonly string[]; uplot: string; uplotCss: string }
/**
 * A page with its name. `for`: the role that it needs; the entry is hidden from people without it. `about`: what one does there, for
 * the page of set-up and for the search. `wide`: left out of the bar of a phone, which has room for five.
 */
export type NavItem = { href: string; text: string; about?: string; for?: 'operator' | 'admin'; wide?: true }
/** The parts that all pages of a process share. */
export type Site = {
  /** `appliance` pages have larger controls. */
  product: 'appliance' | 'hub'
  /** Name of the box or of the hub, as people call it. */
  name: string
  /** The tasks, at most six. */
  nav: NavItem[]
  /** The last of the tasks lists these. */
  setup: NavItem[]
  /** `x.y.z+revision` */
  version: string
  assets: Assets
  /** Whether everyone on this machine may do everything, for development. */
  open: boolean
}
/**
 * The reader of a page with what he has chosen for all pages. `mustChangePassword`: signed in with a first password, so that no page
 * but that of the password opens.
 */
export type User = { name: string; role: string; mayOperate: boolean; mustChangePassword?: true } & Preferences
export type Frame = {
  site: Site
  title: string
  /** `href` of the current entry of the navigation. */
  current: string
  here: Here
  user: User | undefined
  /** Goes into every form; the server compares it. */
  csrf: string
  /** The style sheet in the page, in place of its file. */
  firstStyle?: Html | undefined
}

/** A whole document. */
export function page(frame: Frame, body: Html): Html {
  const texts = scriptTexts()
  return html`<!doctype html>
<html lang="${currentLanguage()}" class="${frame.site.product}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${frame.title} · ${frame.site.name} · Plenum</title>
<link rel="icon" href="${frame.site.assets.icon}" type="image/svg+xml">
${frame.firstStyle ?? html`<link rel="stylesheet" href="${frame.site.assets.css}">`}
<script src="${frame.site.assets.htmx}" defer></script>
<script src="${frame.site.assets.script}" defer></script>
</head>
<body${texts !== undefined && html` data-texts="${texts}"`}>
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
}

const header = ({ site, current, user, csrf }: Frame): Html => html`<header class="top">
<p class="brand"><span class="product">Plenum</span> <span class="place">${site.name}</span></p>
${
  user &&
  !user.mustChangePassword &&
  html`<nav aria-label="Pages"><ul>${site.nav.filter(item => isFor(item, user)).map(item => navItem(item, site, current))}</ul></nav>
${current !== SEARCH_PATH && searchBox()}`
}
${user && sessionMenu(user, site.open ? undefined : csrf)}
</header>`

export const SEARCH_PATH = '/search'
export const SETUP_PATH = '/setup'
export const PREFERENCES_PATH = '/preferences'

/** On a phone the box is a link to the page of the search, which has the same box. */
const searchBox =
  (): Html => html`<form class="search" role="search" action="${SEARCH_PATH}"><label class="hidden" for="search">Search</label><input id="search" type="search" name="q" maxlength="200" autocomplete="off" placeholder="Search  /" hx-get="${SEARCH_PATH}/part" hx-trigger="input changed delay:120ms" hx-target="#found" hx-swap="innerHTML"><div id="found" class="found" aria-live="polite"></div></form>
<a class="search-link" href="${SEARCH_PATH}">Search</a>`

/** Whether the page of an entry opens for a person. */
export const isFor = ({ for: role }: NavItem, user: User): boolean =>
  role === undefined || user.role === 'admin' || (role === 'operator' && user.mayOperate)

const navItem = ({ href, text, wide }: NavItem, { setup }: Site, current: string): Html => {
  const isAbove = href === SETUP_PATH && setup.some(item => item.href === current)
  return html`<li${wide && html` class="wide-only"`}><a href="${href}"${href === current && html` aria-current="page"`}${isAbove && html` aria-current="true"`}>${say(text)}</a></li>`
}

/** @param csrf undefined where nobody signs in */
const sessionMenu = (
  { name, role, mustChangePassword }: User,
  csrf: string | undefined,
): Html => html`<details class="session"><summary>${name}${name !== role && ` (${loginRole(role)})`}</summary>
<div>${!mustChangePassword && html`<p><a href="${PREFERENCES_PATH}">Language and units</a></p>`}${csrf !== undefined && signOut(csrf)}</div></details>`

const signOut = (csrf: string): Html => html`<p><a href="/password">Change the password</a></p>
<form method="post" action="/logout">
<input type="hidden" name="csrf" value="${csrf}">
<button>Sign out</button>
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
<p class="why" id="${id}">Needs the operator role; you are signed in as ${user ? loginRole(user.role) : say`nobody`}.</p>`
