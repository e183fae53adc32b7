import test from 'ava'
import { preferenceStore } from '#shared/node/store/people/preferences.ts'
import { temporaryDatabase } from '../../../../support/sites/workspace.ts'

test('choices come back as they were put, each person with their own, and without those that were taken back', t => {
  const preferences = preferenceStore(temporaryDatabase(t))
  t.deepEqual(preferences.get('anna'), {})
  preferences.put('anna', { language: 'de', unit_system: 'us' })
  preferences.put('open', { unit_system: 'si' })
  t.deepEqual(preferences.get('anna'), { language: 'de', unit_system: 'us' })
  t.deepEqual(preferences.get('open'), { unit_system: 'si' })
  preferences.put('anna', { unit_system: 'si' })
  t.deepEqual(preferences.get('anna'), { unit_system: 'si' })
  preferences.remove('anna')
  t.deepEqual([preferences.get('anna'), preferences.get('open')], [{}, { unit_system: 'si' }])
})
