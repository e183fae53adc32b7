import type { EdgeRecord } from '#shared/core/stores.ts'

/** An edge of which nothing has come yet. */
export const edgeRecord = (more: Pick<EdgeRecord, 'building_id'> & Partial<EdgeRecord>): EdgeRecord => ({
  ...{ edge_id: 'e1', site_id: 'site-1', name: 'Box', version: '1', status: 'operational', online: true },
  ...{ last_seen_at: null, session_changed_at: null, last_data_at: null, fresh_since: null, version_since: null },
  ...{ metadata_revision: 1, status_body: {} },
  ...more,
})
