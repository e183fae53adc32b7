/** What a page says while the program starts again. */
import { type Html, html } from '#shared/node/http/html.ts'

/**
 * It is the answer to the form itself: an address to go on to would be asked for while nothing answers.
 *
 * @param href what the script opens as soon as the program answers again
 */
export const restartingCard = (title: string, href: string): Html =>
  html`<section class="card" role="status" data-restarting="${href}"><h2>${title}</h2>
<p>This takes about half a minute. The page then goes on by itself. Without script, <a href="${href}">go on</a> in a minute.</p></section>`
