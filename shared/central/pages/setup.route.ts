/** The page of set-up, on a hub of administration: every page that is no daily task, with what one does there. */
import type { CentralContext } from '#shared/central/context.ts'
import { SETUP_PATH } from '#shared/central/ui/frame.ts'
import { type Route, route } from '#shared/node/http/route.ts'
import type { PageLayout } from './layout.ts'
import { setupBody } from './setup.view.ts'

export const setupPage = ({ historyExtent }: Pick<CentralContext, 'historyExtent'>, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: SETUP_PATH,
    auth: 'viewer',
    summary: 'The page of set-up or administration',
    handle: call => {
      const { setup, all } = layout.pagesFor(call.caller)
      const title = all.find(({ href }) => href === SETUP_PATH)!.text
      const left = all.filter(({ wide }) => wide)
      return layout.document(
        call,
        { title, current: SETUP_PATH },
        setupBody({ title, pages: setup, left, history: historyExtent() }),
      )
    },
  }),
]
