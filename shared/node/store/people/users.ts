import type { StoredUser } from '#shared/core/auth/users.ts'
import type { UserStore } from '#shared/core/stores.ts'
import type { Database } from '#shared/node/sqlite.ts'
import { toRow, upsert } from '#shared/node/store/row.ts'

const COLUMNS = [
  'username',
  'name',
  'role',
  'password_hash',
  'must_change_password',
  'password_expires_at',
  'locked_at',
  'last_login_at',
  'created_by',
  'created_at',
] as const

export function userStore(db: Database): UserStore {
  const list = db.prepare('SELECT * FROM users ORDER BY username')
  const get = db.prepare('SELECT * FROM users WHERE username = ?')
  const put = db.prepare(upsert('users', ['username'], COLUMNS))
  const remove = db.prepare('DELETE FROM users WHERE username = ?')
  const signedIn = db.prepare('UPDATE users SET last_login_at = ? WHERE username = ?')
  return {
    list: () => list.all().map(toUser),
    get: username => {
      const row = get.get(username)
      return row === undefined ? undefined : toUser(row)
    },
    put: user => void put.run(toRow(user, COLUMNS)),
    remove: username => void remove.run(username),
    signedIn: (username, at) => void signedIn.run(at, username),
  }
}

function toUser(row: unknown): StoredUser {
  const user = row as Omit<StoredUser, 'must_change_password'> & { must_change_password: number }
  return { ...user, must_change_password: user.must_change_password === 1 }
}
