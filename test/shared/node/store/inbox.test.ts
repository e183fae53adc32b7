import test from 'ava'
import { openInbox } from '#shared/node/store/inbox.ts'
import { modelStore } from '#shared/node/store/model.ts'
import { inboxConformance } from '../../../conformance/inbox.ts'
import { temporaryDatabase } from '../../../support/sites/workspace.ts'
import { withHotRows } from '../../../support/sites/hot-rows.ts'

inboxConformance(test, 'sqlite', t => {
  const db = temporaryDatabase(t)
  const source = { protocol: 'bacnet', address: 'x' } as const
  modelStore(db).put({
    building: { building_id: 'b', name: 'B', site_id: 's', timezone: 'UTC', unit_system: 'si' },
    points: [
      { point_id: 'mode', building_id: 'b', name: 'Mode', unit: 'enum', kind: 'enum', source, states: ['off', 'on', 'auto'] },
    ],
  })
  const samples = withHotRows(db).prepare(
    'SELECT point_id, ts, value FROM hot_rows JOIN history_points USING (building, point) ORDER BY 1, 2',
  )
  return {
    inbox: openInbox(db),
    reopen: () => openInbox(db),
    stored: () => ({
      samples: (samples.raw().all() as unknown[][]).map(([point, t, value]) => `${point} ${t} ${value}`),
      findings: db.prepare('SELECT finding_id FROM findings ORDER BY 1').pluck().all() as string[],
      titles: db.prepare("SELECT body ->> '$.title' FROM findings ORDER BY finding_id").pluck().all() as string[],
    }),
  }
})
