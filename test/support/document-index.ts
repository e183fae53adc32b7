/** An index of the product's own documents, made without starting the products: routes are given. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { readSections } from '#scripts/lib/document-sources.ts'
import type { RouteEntry } from '#shared/core/documents/route-entry.ts'
import { writeIndex } from '#shared/node/documents/write-index.ts'
import { temporaryFolder } from './sites/workspace.ts'

const ROUTES: RouteEntry[] = [
  {
    method: 'POST',
    path: '/api/fdd/findings/{finding_id}/ack',
    role: 'operator',
    summary: 'Acknowledges a finding, or takes that back',
    products: 'hub, appliance',
    query: '',
    body: 'ack?, assignee?',
    source: 'shared/central/API.md#rules-and-runs',
  },
  {
    method: 'GET',
    path: '/api/edges',
    role: 'viewer',
    summary: 'Edges that report here, by site and id',
    products: 'hub',
    query: 'limit?, cursor?',
    body: '',
    source: 'hub/API.md#edges',
  },
]

export const documentIndex = (): Buffer => writeIndex({ sections: readSections(), routes: ROUTES })

/** @returns the path of an index in a folder that goes when the test ends */
export function documentIndexFile(t: ExecutionContext, bytes = documentIndex()): string {
  const path = join(temporaryFolder(t), 'documents.db')
  writeFileSync(path, bytes)
  return path
}
