import test from 'ava'
import { createSchemaOf, urlOfSite } from '#hub/cluster/site-schema.ts'

test('a connection of a site finds the tables of its schema, and keeps what the address says besides', t => {
  t.is(createSchemaOf('A-1'), 'CREATE SCHEMA IF NOT EXISTS "site:A-1"')
  const options = (url: string) => new URL(urlOfSite(url, 'A-1')).searchParams
  t.is(options('postgres://user:p%40ss@db:5433/plenum').get('options'), '-c search_path="site:A-1"')
  const given = options('postgres://db/plenum?sslmode=verify-full&options=-c%20statement_timeout%3D5s')
  t.is(given.get('options'), '-c statement_timeout=5s -c search_path="site:A-1"')
  t.is(given.get('sslmode'), 'verify-full')
  t.true(urlOfSite('postgres://user:p%40ss@db:5433/plenum', 'A-1').startsWith('postgres://user:p%40ss@db:5433/plenum?'))
})
