/** A page that shows what an edge answers, or why it did not. */
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import type { EdgeRecord } from '#shared/core/stores.ts'
import { momentOr } from '#shared/central/ui/moment.ts'
import { html, type Html } from '#shared/node/http/html.ts'
import type { Call } from '#shared/node/http/route.ts'
import { edgeCrumbs } from './edge-words.ts'
import { healthOf } from './fleet-status.ts'
import { say, sayMade } from '#shared/node/http/language.ts'

type AskedPage = {
  edge: EdgeRecord
  title: string
  /** What cannot be shown until the edge answers. */
  lost: string
  /** To try again. */
  href: string
}

/** Renders the page, or when the request to the edge fails, the reason and the last known state of the edge. */
export async function answerOrExplain(
  layout: PageLayout,
  call: Pick<Call<unknown, unknown, unknown>, 'caller' | 'reply'>,
  page: AskedPage,
  make: () => Promise<unknown>,
): Promise<unknown> {
  try {
    return await make()
  } catch (error) {
    if (!(error instanceof Problem) || PROBLEMS[error.code].status < 500) throw error
    call.reply.code(PROBLEMS[error.code].status)
    return layout.document(call, { title: page.title, current: '/' }, explanation(page, error, layout))
  }
}

function explanation({ edge, title, lost, href }: AskedPage, { code, message }: Problem, layout: PageLayout): Html {
  const here = layout.here()
  const { reason } = healthOf(edge, here.now)
  return html`${edgeCrumbs(edge)}
<h1>${title}</h1>
<div class="notice" role="alert"><p><strong>${say(PROBLEMS[code].title)}.</strong> ${sayMade(message)}</p></div>
<section class="card"><p>${lost}</p>
<dl class="values"><div><dt>Edge</dt><dd>${reason}</dd></div><div><dt>Version</dt><dd>${edge.version || say`not reported`}</dd></div><div><dt>Last data</dt><dd>${momentOr(edge.last_data_at, here, say`none yet`)}</dd></div></dl>
<p><a href="${href}">Try again</a></p></section>`
}
