import test from 'ava'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSearchTexts, type SearchText } from '#shared/node/model/search-texts.ts'
import { smallDisk } from '../../../support/disk/small-disk.ts'
import { folder } from '../../../support/folders.ts'
import { canMountTmpfs } from '../../../support/disk/mounts.ts'
import { testWhere } from '../../../support/optional.ts'

const textOf = (building_id: string, words: string, revision = 1): SearchText => ({
  ...{ language: 'en', building_id, revision, words },
  ...{ shown: `shown ${building_id}`, names: `names ${building_id}` },
})

test('a text is found by words that stand anywhere in it, in its language, until another one takes its place', t => {
  const path = join(folder(t), '.cache', 'search.db')
  const texts = openSearchTexts(path)
  const found = (...words: string[]) => [...texts.having('en', words)].map(({ building_id }) => building_id)
  texts.put([textOf('a', 'supply air'), textOf('b', 'return air\u0000ümlaut "%_'), { ...textOf('a', 'zuluft'), language: 'de' }])
  t.deepEqual(found('air'), ['a', 'b'])
  t.deepEqual(found('turn', 'ümlaut'), ['b'])
  t.deepEqual(found('"%_'), ['b'])
  t.deepEqual(found('%'), ['b'])
  t.deepEqual(found('zuluft'), [])
  t.deepEqual([...texts.having('en', ['air'], 'b')].length, 1)
  texts.put([textOf('a', 'exhaust', 2)])
  t.deepEqual(found('air'), ['b'])
  t.deepEqual(
    texts.revisions('en'),
    new Map([
      ['a', 2],
      ['b', 1],
    ]),
  )
  t.is(texts.shown('en', 'b'), 'shown b')
  t.deepEqual(
    [...texts.names('en')].map(({ names }) => names),
    ['names a', 'names b'],
  )
  texts.close()
  t.false(existsSync(path), 'it can be of no other database')
})

test('where there is no place for the file the texts are in memory', t => {
  const dir = folder(t)
  writeFileSync(join(dir, '.cache'), 'not a folder')
  const texts = openSearchTexts(join(dir, '.cache', 'search.db'))
  t.is(texts.put([textOf('a', 'air')]), 'stored')
  t.is([...texts.having('en', ['air'])].length, 1)
  texts.close()
})

testWhere(canMountTmpfs())('on a full disk the texts begin anew in memory, and say so', t => {
  const disk = smallDisk(t, folder(t), 262_144)
  const texts = openSearchTexts(join(disk.dir, 'search.db'))
  t.is(texts.put([textOf('a', 'air')]), 'stored')
  disk.fill()
  t.is(texts.put([textOf('b', 'air '.repeat(100_000))]), 'begun anew')
  t.deepEqual(
    [...texts.having('en', ['air'])].map(({ building_id }) => building_id),
    ['b'],
  )
  t.is(texts.put([textOf('a', 'air')]), 'stored')
  texts.close()
})
