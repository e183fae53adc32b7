/** The frame around every page, and signing in. */
import { nameTable } from '#shared/core/name-table.ts'

export const FRAME_DE = nameTable<string>({
  'Skip to the content': 'Zum Inhalt',
  Pages: 'Seiten',
  Search: 'Suche',
  'Search  /': 'Suche  /',
  'Change the password': 'Kennwort ändern',
  'Sign out': 'Abmelden',
  'Sign out everywhere': 'Überall abmelden',
  'Open for development: everyone on this machine may do everything.':
    'Offen für die Entwicklung: Auf diesem Rechner darf jeder alles.',
  'Page made {0}, times in {1}': 'Seite erstellt {0}, Zeiten in {1}',
  'Needs the operator role; you are signed in as {0}.': 'Erfordert die Rolle Bediener; Sie sind angemeldet als {0}.',
})
