/** The frame around every page, and signing in. */
import { nameTable } from '#shared/core/name-table.ts'

export const FRAME_DE = nameTable<string>({
  'Equipment ¦ several': 'Anlagen',
  'building of {0}': 'Gebäude von {0}',
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
  'Your session has ended, and nothing was saved yet. What you typed is kept: sign in to send it.':
    'Ihre Sitzung ist beendet, und noch wurde nichts gespeichert. Was Sie getippt haben, ist aufgehoben: Melden Sie sich an, um es zu senden.',
  'Your session has ended, and nothing was changed. Sign in and do it again.':
    'Ihre Sitzung ist beendet, und nichts wurde geändert. Melden Sie sich an und wiederholen Sie es.',
  'Sign in': 'Anmelden',
  'What you typed': 'Was Sie getippt haben',
  'You are signed in': 'Sie sind angemeldet',
  'This was not sent yet.': 'Dies wurde noch nicht gesendet.',
  'Send it now': 'Jetzt senden',
  'Drop it and go back': 'Verwerfen und zurück',
  '<1>To the first page</1> <2>Request {0}</2>': '<1>Zur ersten Seite</1> <2>Anfrage {0}</2>',
  '{0} · {1} · Plenum': '{0} · {1} · Plenum',
  '<1>Plenum</1> <2>{0}</2>': '<1>Plenum</1> <2>{0}</2>',
  'Plenum {0}': 'Plenum {0}',
})
