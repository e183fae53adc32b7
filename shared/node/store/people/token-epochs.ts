import type { TokenEpochs } from '#shared/core/stores.ts'
import type { Database } from '#shared/node/sqlite.ts'

/** A user without a row has the epoch 0: no token was ended. */
export function tokenEpochStore(db: Database): TokenEpochs {
  const get = db.prepare('SELECT epoch FROM token_epochs WHERE username = ?').pluck()
  const set = db.prepare('INSERT INTO token_epochs VALUES (?, ?) ON CONFLICT (username) DO UPDATE SET epoch = excluded.epoch')
  return {
    get: username => (get.get(username) as number | undefined) ?? 0,
    set: (username, epoch) => void set.run(username, epoch),
  }
}
