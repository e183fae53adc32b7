import type { StoredApiToken } from '#shared/core/auth/api-tokens.ts'
import type { ApiTokenStore } from '#shared/core/stores.ts'
import type { Database } from '#shared/node/sqlite.ts'
import { toRow } from '#shared/node/store/row.ts'

const COLUMNS = [
  'token_id',
  'name',
  'role',
  'scope',
  'building_id',
  'secret_hash',
  'expires_at',
  'last_used_at',
  'created_by',
  'created_at',
] as const

export function apiTokenStore(db: Database): ApiTokenStore {
  const list = db.prepare('SELECT * FROM api_tokens ORDER BY name')
  const get = db.prepare('SELECT * FROM api_tokens WHERE token_id = ?')
  const add = db.prepare(`INSERT INTO api_tokens (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(name => `@${name}`).join(', ')})`)
  const remove = db.prepare('DELETE FROM api_tokens WHERE token_id = ?')
  const used = db.prepare('UPDATE api_tokens SET last_used_at = ? WHERE token_id = ?')
  return {
    list: () => list.all() as StoredApiToken[],
    get: token_id => get.get(token_id) as StoredApiToken | undefined,
    add: token => void add.run(toRow(token, COLUMNS)),
    remove: token_id => void remove.run(token_id),
    used: (token_id, at) => void used.run(at, token_id),
  }
}
