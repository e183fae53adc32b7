import Database from 'better-sqlite3'
import { type DocumentTag, readPlaybook, type Section } from '#shared/core/documents/sections.ts'
import type { RouteEntry } from '#shared/core/documents/route-entry.ts'
import { INDEX_SCHEMA, WORD_TABLES } from './index-schema.ts'

export type TaggedSection = Section & { tag: DocumentTag }

/**
 * Writes an index of documents and routes. The same input gives the same bytes with the same version of SQLite.
 *
 * @param sections those of a document in its order, documents in any
 * @returns the content of the file that `readIndex` reads
 * @throws Error when two sections have one id, or two playbooks one task
 */
export function writeIndex({ sections, routes }: { sections: TaggedSection[]; routes: RouteEntry[] }): Buffer {
  const db = new Database(':memory:')
  try {
    db.exec(INDEX_SCHEMA)
    db.transaction(() => {
      const addSection = db.prepare(
        'INSERT INTO sections (id, path, level, title, chapters, tag, text) VALUES (@id, @path, @level, @title, @chapters, @tag, @text)',
      )
      const addPlaybook = db.prepare(
        'INSERT INTO playbooks (task_type, title, section_id, text, steps) VALUES (@task_type, @title, @section_id, @text, @steps)',
      )
      const addRoute = db.prepare(
        'INSERT INTO routes (method, path, role, summary, products, query, body, source) VALUES (@method, @path, @role, @summary, @products, @query, @body, @source)',
      )
      for (const section of sections) {
        addSection.run({ ...section, chapters: JSON.stringify(section.chapters) })
        const playbook = section.tag === 'playbook' ? readPlaybook(section) : undefined
        if (playbook) addPlaybook.run({ ...playbook, steps: JSON.stringify(playbook.steps) })
      }
      for (const entry of routes) addRoute.run(entry)
      for (const table of WORD_TABLES) {
        db.exec(`INSERT INTO ${table} (${table}) VALUES ('rebuild'); INSERT INTO ${table} (${table}) VALUES ('optimize')`)
      }
    })()
    return db.serialize()
  } finally {
    db.close()
  }
}
