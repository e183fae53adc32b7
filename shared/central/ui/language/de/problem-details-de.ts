/** What problems say of the case, where a page shows it: recognised by its English text. */
import { nameTable } from '#shared/core/name-table.ts'

export const PROBLEM_DETAILS_DE = nameTable<string>({
  'Name an equipment, a rule, or both: a whole building is not snoozed':
    'Nennen Sie eine Anlage, eine Regel oder beides: Ein ganzes Gebäude wird nicht zurückgestellt',
  'a port is a number from 1 to 65535': 'Ein Port ist eine Zahl von 1 bis 65535',
  'the backup is cut off': 'Die Sicherung ist abgeschnitten',
  'the passphrase is wrong, or the beginning of the backup is damaged':
    'Die Passphrase ist falsch, oder der Anfang der Sicherung ist beschädigt',
  'the backup is damaged or cut off at byte {0} or within the next {1}':
    'Die Sicherung ist bei Byte {0} oder in den nächsten {1} beschädigt oder abgeschnitten',
  'the backup has format {0}, this program reads format {1}': 'Die Sicherung hat Format {0}, dieses Programm liest Format {1}',
  'the header of the backup is damaged': 'Der Kopf der Sicherung ist beschädigt',
  'the file is no backup': 'Die Datei ist keine Sicherung',
  '{0} is not empty (it holds {1}): a backup is restored into an empty folder':
    '{0} ist nicht leer (darin ist {1}): Eine Sicherung wird in einen leeren Ordner wiederhergestellt',
  '{0} in the backup is no ordinary file': '{0} in der Sicherung ist keine gewöhnliche Datei',
  '{0} does not belong into a backup': '{0} gehört nicht in eine Sicherung',
  'the backup is empty': 'Die Sicherung ist leer',
  'the backup has {0} files of {1}': 'Die Sicherung hat {0} Dateien von {1}',
  'the backup has no {0}': 'Die Sicherung hat keine Datei {0}',
  'the backup does not begin with {0}': 'Die Sicherung beginnt nicht mit {0}',
  'the backup has format {0} inside, this program reads format {1}':
    'Die Sicherung hat innen Format {0}, dieses Programm liest Format {1}',
  'the history is on another disk than the workspace': 'Der Verlauf liegt auf einem anderen Datenträger als der Arbeitsbereich',
  'the database in the backup is still open': 'Die Datenbank in der Sicherung ist noch offen',
  'the backup was written by a newer version of this program':
    'Die Sicherung wurde von einer neueren Version dieses Programms geschrieben',
  'its database cannot be opened: {0}': 'Ihre Datenbank lässt sich nicht öffnen: {0}',
  'the database in the backup is damaged: {0}': 'Die Datenbank in der Sicherung ist beschädigt: {0}',
  '{0} in the backup has {1} bytes of {2}': '{0} in der Sicherung hat {1} Bytes von {2}',
  'The backup is of a hub, and this is a box': 'Die Sicherung ist von einem Hub, und dies ist eine Box',
  'The backup is of a box, and this is a hub': 'Die Sicherung ist von einer Box, und dies ist ein Hub',
  'The backup is of box {0}, this is box {1}': 'Die Sicherung ist von Box {0}, dies ist Box {1}',
  'The backup is of site {0}, this is site {1}': 'Die Sicherung ist von Standort {0}, dies ist Standort {1}',
  'No backup waits here: upload one first': 'Hier wartet keine Sicherung: Laden Sie zuerst eine hoch',
  'Another backup is being uploaded; wait until it is checked':
    'Eine andere Sicherung wird hochgeladen; warten Sie, bis sie geprüft ist',
  'A backup is confirmed and waits for the next start; discard it first':
    'Eine Sicherung ist bestätigt und wartet auf den nächsten Start; verwerfen Sie sie zuerst',
  'Only {0} MB are free; restoring this backup needs {1} MB':
    'Nur {0} MB sind frei; diese Sicherung wiederherzustellen braucht {1} MB',
  'The disk is full: the backup could not be unpacked': 'Der Datenträger ist voll: Die Sicherung konnte nicht entpackt werden',
  'This workspace is restored on its machine, with provisioning/main.ts restore':
    'Dieser Arbeitsbereich wird auf seiner Maschine wiederhergestellt, mit provisioning/main.ts restore',
  'This appliance does not run on a system whose network it can set':
    'Diese Appliance läuft nicht auf einem System, dessen Netz sie einstellen kann',
  'The box tries other settings of the network: keep them first, or wait until they are set back':
    'Die Box probiert andere Netzeinstellungen: Behalten Sie sie zuerst, oder warten Sie, bis sie zurückgesetzt sind',
  'The box tries an update: wait until it is confirmed': 'Die Box probiert ein Update: Warten Sie, bis es bestätigt ist',
  'The box tries no settings of the network': 'Die Box probiert keine Netzeinstellungen',
  // Devices, discovery, priority arrays, Modbus
  '{0} and {1} are the same part of an EDE set; import one set at a time':
    '{0} und {1} sind derselbe Teil eines EDE-Satzes; importieren Sie einen Satz nach dem anderen',
  'The table of the points is missing: choose the file whose name ends with _EDE.csv':
    'Die Tabelle der Punkte fehlt: Wählen Sie die Datei, deren Name auf _EDE.csv endet',
  'Nothing was added: the discovery is still running; wait for it or stop it':
    'Nichts wurde hinzugefügt: Die Suche läuft noch; warten Sie auf sie oder halten Sie sie an',
  'Nothing was added: {0}': 'Nichts wurde hinzugefügt: {0}',
  'Discovery is switched off by SERVICE_BACNET_DISCOVERY=0': 'Die Suche ist durch SERVICE_BACNET_DISCOVERY=0 ausgeschaltet',
  'Discovery {0} is running; wait for it or stop it': 'Die Suche {0} läuft; warten Sie auf sie oder halten Sie sie an',
  'Nothing was added: the list of devices would not be valid': 'Nichts wurde hinzugefügt: Die Liste der Geräte wäre ungültig',
  'No discovery has begun since this process started': 'Seit dem Start dieses Prozesses hat keine Suche begonnen',
  'No device is chosen; go back and choose some': 'Kein Gerät ist gewählt; gehen Sie zurück und wählen Sie welche',
  'There is no enabled BACnet device "{0}" in the catalogue': 'In der Liste ist kein eingeschaltetes BACnet-Gerät „{0}“',
  'This program has no settings file: set SERVICE_BACNET_BIND and the others where it is started':
    'Dieses Programm hat keine Datei mit Einstellungen: setzen Sie SERVICE_BACNET_BIND und die anderen, wo es gestartet wird',
  '{0} is set in the environment of this program: change it there':
    '{0} ist in der Umgebung dieses Programms gesetzt: ändern Sie es dort',
  'Nothing is stored of this time': 'Von dieser Zeit ist nichts gespeichert',
  'An import would not take so large a package: ask for a shorter time, or for one equipment':
    'Ein Import nähme ein so großes Paket nicht an: fragen Sie nach einer kürzeren Zeit oder nach einer Anlage',
  'An object is a type by its name or number and an instance, such as AI-3 or analog-input,3':
    'Ein Objekt ist eine Art, als Name oder Nummer, und eine Instanz, etwa AI-3 oder analog-input,3',
  'A property is a name of the standard, such as present-value, or a number up to 4194303':
    'Eine Eigenschaft ist ein Name der Norm, etwa present-value, oder eine Nummer bis 4194303',
  'The device has no {0}': 'Das Gerät hat kein {0}',
  'There is no enabled Modbus device "{0}" in the catalogue': 'In der Liste ist kein eingeschaltetes Modbus-Gerät „{0}“',
  'Another read of {0} is still running': 'Eine andere Abfrage von {0} läuft noch',
  'One request reads at most {0} of table {1}': 'Eine Anfrage liest höchstens {0} der Tabelle {1}',
  'Addresses end at {0}': 'Adressen enden bei {0}',
  'Visit {0} to device {1} is under way; wait until it is over': 'Besuch {0} bei Gerät {1} läuft; warten Sie, bis er vorbei ist',
  'Priority arrays are not visited: {0}': 'Prioritäten werden nicht abgefragt: {0}',
  'Device {0} has no point {1}': 'Gerät {0} hat keinen Punkt {1}',
  'No visit to {0},{1} of device {2} is recorded': 'Kein Besuch von {0},{1} des Geräts {2} ist aufgezeichnet',
  '{0} has no records of {1},{2} of device {3}': '{0} hat keine Aufzeichnungen von {1},{2} des Geräts {3}',
  'List not changed: {0}': 'Liste nicht geändert: {0}',
  'There is no device {0}': 'Es gibt kein Gerät {0}',
  'The file was changed on disk and cannot be used; correct it there first. {0}':
    'Die Datei wurde auf der Platte geändert und ist nicht brauchbar; berichtigen Sie sie zuerst dort. {0}',
  'A registry is one file, but {0} were sent': 'Eine Punktliste ist eine Datei, gesendet wurden {0}',
  '{0} is no table: it is no text': '{0} ist keine Tabelle: Es ist kein Text',
  '{0} has {1} rows, more than {2}; import it in parts': '{0} hat {1} Zeilen, mehr als {2}; importieren Sie sie in Teilen',
  'The preview has expired, after an hour or because of newer imports; choose the file again':
    'Die Vorschau ist abgelaufen, nach einer Stunde oder wegen neuerer Importe; wählen Sie die Datei erneut',
  'Building {0} has devices or points; its id stays, its name can change':
    'Gebäude {0} hat Geräte oder Punkte; seine Id bleibt, sein Name kann sich ändern',
  // Certificates and updates of a box
  'This edge has requested no certificate since it started': 'Dieses Edge hat seit seinem Start kein Zertifikat angefordert',
  'The certificate cannot be used: {0}': 'Das Zertifikat ist nicht brauchbar: {0}',
  'This box has a kit already': 'Diese Box hat schon ein Kit',
  'This box is not set to use a kit: set SERVICE_MQTT_ENABLED=1':
    'Diese Box ist nicht für ein Kit eingestellt: Setzen Sie SERVICE_MQTT_ENABLED=1',
  'The line {0}': 'Die Zeile {0}',
  'The certificate is not for the key of the HTTPS port': 'Das Zertifikat gehört nicht zum Schlüssel des HTTPS-Ports',
  'The certificate ends no later than the one that the HTTPS port has':
    'Das Zertifikat endet nicht später als das, das der HTTPS-Port hat',
  'The file of diagnostics has {0} bytes; at most {1} are sent': 'Die Diagnosedatei hat {0} Bytes; höchstens {1} werden gesendet',
  'No piece of a file {0} begins at {1}; ask for a new file':
    'Kein Stück einer Datei {0} beginnt bei {1}; fordern Sie eine neue Datei an',
  'This appliance does not run on a system that it can update':
    'Diese Appliance läuft nicht auf einem System, das sie aktualisieren kann',
  'Another update is under way': 'Eine andere Aktualisierung läuft',
  'Version {0} has started and is not confirmed yet': 'Version {0} ist gestartet und noch nicht bestätigt',
  'The update has {0} bytes, and {1} are free; {2} must stay free':
    'Die Aktualisierung hat {0} Bytes, und {1} sind frei; {2} müssen frei bleiben',
  'The file is no update of a box: {0}': 'Die Datei ist keine Aktualisierung einer Box: {0}',
  'A roll-out goes on; stop it first': 'Ein Rollout läuft; halten Sie ihn zuerst an',
  'The update has {0} bytes, and {1} are free': 'Die Aktualisierung hat {0} Bytes, und {1} sind frei',
  'No box of this hub has said that it is a {0}': 'Keine Box dieses Hubs ist nach eigener Angabe eine {0}',
  'No roll-out goes on': 'Kein Rollout läuft',
  'No roll-out was stopped': 'Kein Rollout wurde angehalten',
  'The file of the update is gone; send it again': 'Die Datei der Aktualisierung ist weg; senden Sie sie erneut',
  '{0} of site {1} is gone': '{0} des Standorts {1} ist weg',
  // Edges of a hub
  'the request to {0} cannot be sent: {1}': 'Die Anfrage an {0} kann nicht gesendet werden: {1}',
  '{0} requests to {1} are in progress; try again': '{0} Anfragen an {1} laufen; versuchen Sie es erneut',
  '{0} requests to edges are in progress; try again': '{0} Anfragen an Edges laufen; versuchen Sie es erneut',
  '{0} has no HTTPS address, and this hub has no broker connection':
    '{0} hat keine HTTPS-Adresse, und dieser Hub hat keine Verbindung zum Broker',
  'The response of {0} does not match the schema: {1} {2}': 'Die Antwort von {0} entspricht nicht dem Schema: {1} {2}',
  '{0} does not know this request: its version is older, or it is no whole appliance':
    '{0} kennt diese Anfrage nicht: Die Version ist älter, oder es ist keine ganze Appliance',
  '{0} answered with {1}: {2}': '{0} antwortete mit {1}: {2}',
  'This hub has no file edge-tokens.key beside its certificate':
    'Dieser Hub hat neben seinem Zertifikat keine Datei edge-tokens.key',
  '{0} at {1} did not answer within {2} s': '{0} unter {1} antwortete nicht innerhalb von {2} s',
  '{0} at {1} cannot be reached: {2}': '{0} ist unter {1} nicht erreichbar: {2}',
  'The response of {0} has more than {1} bytes': 'Die Antwort von {0} hat mehr als {1} Bytes',
  '{0} would have more than {1} cells with a column for each name; split it by name':
    '{0} hätte mehr als {1} Zellen mit einer Spalte für jeden Namen; nach Namen teilen',
  '{0} has one value a row and more than {1} of them; split it by time':
    '{0} hat einen Wert je Zeile und mehr als {1} davon; nach der Zeit teilen',
  'The response of {0} is not JSON': 'Die Antwort von {0} ist kein JSON',
  'The response of {0} is nested deeper than {1}': 'Die Antwort von {0} ist tiefer verschachtelt als {1}',
  '{0} sent a piece of {1} bytes at {2} of {3}': '{0} sandte ein Stück von {1} Bytes bei {2} von {3}',
  'The file of diagnostics of {0} does not have its checksum': 'Die Diagnosedatei von {0} hat nicht ihre Prüfsumme',
  'This hub is not connected to a broker': 'Dieser Hub ist mit keinem Broker verbunden',
  '{0} has no certificate of this authority': '{0} hat kein Zertifikat dieser Zertifizierungsstelle',
  'the certificate of {0} is revoked: make a kit': 'Das Zertifikat von {0} ist widerrufen: Erstellen Sie ein Kit',
  'This hub runs without a broker, so it issues no certificates':
    'Dieser Hub läuft ohne Broker, darum stellt er keine Zertifikate aus',
  'edge {0} of site {1} has no valid certificate': 'Edge {0} des Standorts {1} hat kein gültiges Zertifikat',
  'No box with the fingerprint {0} waits here': 'Keine Box mit dem Fingerabdruck {0} wartet hier',
  'the box was {0} already': 'Die Box wurde schon {0}',
  'There is no takeover of {0} to confirm': 'Es gibt keine Übernahme von {0} zu bestätigen',
  'No edge {0}{1} has reported here': 'Kein Edge {0}{1} hat sich hier gemeldet',
  'Several sites have an edge {0}: {1}. Say which one with ?site_id=':
    'Mehrere Standorte haben ein Edge {0}: {1}. Geben Sie mit ?site_id= an, welches',
  // Tenants, users, tokens
  'The tenant may send {0} requests a minute; try again in {1} s':
    'Der Mandant darf {0} Anfragen in der Minute senden; versuchen Sie es in {1} s erneut',
  'This needs an admin of the hub, and {0} is none': 'Das darf nur ein Administrator des Hubs, und {0} ist keiner',
  'The workspace of this tenant is not open; an admin of the hub finds the reason in its log':
    'Der Arbeitsbereich dieses Mandanten ist nicht offen; den Grund findet ein Administrator des Hubs im Protokoll',
  'There is no tenant {0}': 'Es gibt keinen Mandanten {0}',
  'SERVICE_MULTI_TENANT is off: there is one tenant': 'SERVICE_MULTI_TENANT ist aus: Es gibt nur einen Mandanten',
  'There is a tenant {0} already': 'Es gibt schon einen Mandanten {0}',
  'There are {0} tenants': 'Es gibt {0} Mandanten',
  "{0} is the hub's own workspace and has no budget": '{0} ist der Arbeitsbereich des Hubs selbst und hat kein Kontingent',
  '{0} is a member of {1} tenants': '{0} gehört zu {1} Mandanten',
  '{0} is not a member of {1}': '{0} gehört nicht zu {1}',
  'Only a user selects a tenant': 'Nur ein Benutzer wählt einen Mandanten',
  '{0} is not a member of the tenant {1}': '{0} gehört nicht zum Mandanten {1}',
  '{0} is not a member of a tenant; ask an admin of the hub':
    '{0} gehört zu keinem Mandanten; wenden Sie sich an einen Administrator des Hubs',
  'There is no user {0}': 'Es gibt keinen Benutzer {0}',
  'There is a user {0} already': 'Es gibt schon einen Benutzer {0}',
  'There are {0} users; delete one first': 'Es gibt {0} Benutzer; löschen Sie zuerst einen',
  'It was assigned to “{0}” meanwhile. “{1}” was not stored.':
    'Inzwischen wurde „{0}“ zugewiesen. „{1}“ wurde nicht gespeichert.',
  'The note was changed meanwhile: “{0}”. Yours was not stored: “{1}”.':
    'Die Notiz wurde inzwischen geändert: „{0}“. Ihre wurde nicht gespeichert: „{1}“.',
  'The user was changed meanwhile: sign in again': 'Der Benutzer wurde inzwischen geändert: Melden Sie sich neu an',
  'Ask another admin to change, lock or delete your own user':
    'Den eigenen Benutzer ändert, sperrt oder löscht ein anderer Administrator',
  'Your user was changed meanwhile: sign in again': 'Ihr Benutzer wurde inzwischen geändert: Melden Sie sich neu an',
  'There is a token {0} already': 'Es gibt schon einen Token {0}',
  'There are {0} tokens; revoke one first': 'Es gibt {0} Token; widerrufen Sie zuerst einen',
  'There is no token {0}': 'Es gibt keinen Token {0}',
  '{0} is a token; {1} are changed by people': '{0} ist ein Token; {1} ändern nur Menschen',
  'The token has expired': 'Der Token ist abgelaufen',
  'The token is not valid': 'Der Token ist ungültig',
  'The token names no role': 'Der Token nennt keine Rolle',
  'The token names no tenant': 'Der Token nennt keinen Mandanten',
  'User name or password is wrong': 'Benutzername oder Kennwort ist falsch',
  'This process is open to its own machine only, not as {0}':
    'Dieser Prozess ist nur auf seinem eigenen Rechner offen, nicht als {0}',
  'A page of another site may not change anything here': 'Eine Seite von anderswo darf hier nichts ändern',
  'The request comes from {0}, not from {1}': 'Die Anfrage kommt von {0}, nicht von {1}',
  '{0} does not sign out: an admin revokes it': '{0} meldet sich nicht ab: Ein Administrator widerruft ihn',
  'The token was ended: its user has signed out, was changed or has another password':
    'Der Token wurde beendet: Sein Benutzer hat sich abgemeldet, wurde geändert oder hat ein anderes Kennwort',
  'The token is not valid, or was revoked': 'Der Token ist ungültig oder wurde widerrufen',
  'This needs the role {0}; {1} has the role {2}': 'Das braucht die Rolle {0}; {1} hat die Rolle {2}',
  '{0} only reads, and this changes something': '{0} liest nur, und das ändert etwas',
  '{0} is for the building {1} alone: {2}': '{0} gilt allein für das Gebäude {1}: {2}',
  // Alerts, backups, saved views
  'Another backup is being sent; ask again when it has ended':
    'Eine andere Sicherung wird gesendet; versuchen Sie es danach erneut',
  'There is no alert route {0}': 'Es gibt keinen Meldeweg {0}',
  'There are {0} alert routes; delete one first': 'Es gibt {0} Meldewege; löschen Sie zuerst einen',
  'There is no delivery {0}': 'Es gibt keine Zustellung {0}',
  'This delivery waits to be sent already': 'Diese Zustellung wartet schon auf das Senden',
  'There is no deleted view {0}': 'Es gibt keine gelöschte Ansicht {0}',
  'There is no saved view {0}': 'Es gibt keine gespeicherte Ansicht {0}',
  'This snooze is over': 'Diese Zurückstellung ist vorbei',
  'A snooze ends in the future': 'Eine Zurückstellung endet in der Zukunft',
  'A snooze lasts at most 30 days': 'Eine Zurückstellung dauert höchstens 30 Tage',
  'Say why: this also silences what has not been found yet':
    'Nennen Sie den Grund: Dies stellt auch stumm, was noch nicht gefunden wurde',
  'There are {0} saved views; delete one first': 'Es gibt {0} gespeicherte Ansichten; löschen Sie zuerst eine',
  'This building has a saved view {0} already': 'Dieses Gebäude hat schon eine gespeicherte Ansicht {0}',
  // Imports
  'The package was imported, and its files are gone': 'Das Paket wurde importiert, und seine Dateien sind weg',
  'The package has several tables; say which one is meant': 'Das Paket hat mehrere Tabellen; sagen Sie, welche gemeint ist',
  'It is the only table of the package': 'Es ist die einzige Tabelle des Pakets',
  'The package has no table': 'Das Paket hat keine Tabelle',
  'The package has no table {0}': 'Das Paket hat keine Tabelle {0}',
  'Nothing is imported: {0}': 'Nichts wird importiert: {0}',
  'The text is no {0}: {1}': 'Der Text ist kein {0}: {1}',
  'Too many chunks wait to be added; send this one again later': 'Zu viele Teile warten; senden Sie diesen später erneut',
  'No columns of {0} were imported; import a package, then append':
    'Von {0} wurden keine Spalten importiert; importieren Sie ein Paket und fügen Sie dann an',
  'The chunk is empty': 'Der Teil ist leer',
  'Column {0} is not in the mapping of this equipment': 'Spalte {0} ist nicht in der Zuordnung dieser Anlage',
  'The states of {0} have changed while the chunk was read; send it again':
    'Die Zustände von {0} haben sich beim Lesen geändert; senden Sie den Teil erneut',
  'Only {0} MB are free; an import needs {1} MB': 'Nur {0} MB sind frei; ein Import braucht {1} MB',
  'The mapping of {0} is empty: {1}': 'Die Zuordnung von {0} ist leer: {1}',
  'There is no import session {0}': 'Es gibt keine Importsitzung {0}',
  'Session {0} was imported already': 'Sitzung {0} wurde schon importiert',
  'Session {0} is being checked or imported': 'Sitzung {0} wird gerade geprüft oder importiert',
  'The files have more than {0} bytes together; pack them into a ZIP':
    'Die Dateien haben zusammen mehr als {0} Bytes; packen Sie sie in ein ZIP',
  'The upload contains no file': 'Es wurde keine Datei hochgeladen',
  '{0} is an Excel workbook; save the sheet with the values as CSV (UTF-8) and send that file':
    '{0} ist eine Excel-Arbeitsmappe; das Blatt mit den Werten als CSV (UTF-8) speichern und diese Datei senden',
  'A ZIP must be the only file': 'Ein ZIP muss die einzige Datei sein',
  '{0} is larger than an upload may be; pack it into a ZIP': '{0} ist größer als erlaubt; packen Sie die Datei in ein ZIP',
  'Fields of an upload are {0}': 'Felder beim Hochladen sind {0}',
  'Changed since the preflight: {0}{1}; run it again': 'Geändert seit der Prüfung: {0}{1}; prüfen Sie erneut',
  'Not one sample could be imported': 'Kein einziger Wert konnte importiert werden',
  'the package holds no rows: nothing was changed': 'Das Paket enthält keine Zeilen: Nichts wurde geändert',
  '{0} cannot be unpacked: {1}': '{0} kann nicht entpackt werden: {1}',
  'The archive cannot be read: {0}': 'Das Archiv ist nicht lesbar: {0}',
  // Rules, runs, baselines, parameters
  'No file {0} is deployed': 'Es ist keine Datei {0} bereitgestellt',
  '{0} ships with the program and is not removed; deactivate {1} instead':
    '{0} gehört zum Programm und wird nicht entfernt; schalten Sie stattdessen {1} ab',
  '{0} has no version {1}': '{0} hat keine Version {1}',
  'No own rule has taken the place of the shipped {0}': 'Keine eigene Regel steht an der Stelle der mitgelieferten {0}',
  'The backtest took longer than 5 minutes: ask for fewer days or a narrower scope':
    'Der Probelauf dauerte länger als 5 Minuten: Wählen Sie weniger Tage oder weniger Anlagen',
  'A run of the rules has kept the backtest waiting for 5 minutes: try again later':
    'Der Probelauf wartete 5 Minuten auf einen Lauf der Regeln: Versuchen Sie es später erneut',
  'Another backtest is running; try again when it is done':
    'Ein anderer Probelauf läuft; versuchen Sie es erneut, wenn er fertig ist',
  '{0} is a folder among the deployed rules; nothing was deployed':
    '{0} ist ein Ordner unter den bereitgestellten Regeln; nichts wurde bereitgestellt',
  'The rules of {0} run on the appliance {1}, which sends what it finds: run them there. A backtest of other parameter values is possible here.':
    'Die Regeln von {0} laufen auf der Appliance {1}, die ihre Befunde sendet: Starten Sie sie dort. Ein Probelauf mit anderen Parametern ist hier möglich.',
  'cancelled by {0}': 'abgebrochen durch {0}',
  'The run is over: {0}': 'Der Lauf ist vorbei: {0}',
  'Runs cannot start yet: the clock of this machine is not set, it shows {0}':
    'Läufe können noch nicht beginnen: Die Uhr dieses Geräts ist nicht gestellt, sie zeigt {0}',
  'Runs cannot start: the process is stopping': 'Läufe können nicht beginnen: Der Prozess hält gerade an',
  'A run of {0} is already in progress': 'Ein Lauf von {0} ist schon im Gang',
  'A run cannot be requested: {0}': 'Ein Lauf kann nicht angefordert werden: {0}',
  'The file of {0} is being changed; try again': 'Die Datei von {0} wird gerade geändert; versuchen Sie es erneut',
  '{0} was changed by somebody else since you opened it; compare before you deploy':
    '{0} wurde von jemand anderem geändert, seit Sie es geöffnet haben; vergleichen Sie vor dem Bereitstellen',
  '{0} is in the request twice': '{0} steht zweimal in der Anfrage',
  '{0} holds {1}; nothing was deployed': '{0} enthält {1}; nichts wurde bereitgestellt',
  'No file can be named by {0}; nothing was deployed': 'Keine Datei kann nach {0} heißen; nichts wurde bereitgestellt',
  '{0} {1}; nothing was deployed': '{0} {1}; nichts wurde bereitgestellt',
  '{0} and {1} both define {2}; nothing was deployed': '{0} und {1} definieren beide {2}; nichts wurde bereitgestellt',
  'No run has seen a baseline {0} of {1} on {2}': 'Kein Lauf hat einen Vergleichswert {0} von {1} an {2} gesehen',
  'The baseline {0} of {1} on {2} was not reset': 'Der Vergleichswert {0} von {1} an {2} wurde nicht zurückgesetzt',
  'Building {0} went away during the run': 'Das Gebäude {0} verschwand während des Laufs',
  '{0} {1} deactivated; activate {2} to run {3}': '{0} {1} abgeschaltet; schalten Sie {2} ein, um {3} laufen zu lassen',
  '{0} of {1} is not set for this {2}': '{0} von {1} ist dafür nicht gesetzt ({2})',
  // Buildings, equipment, points, faults
  'Building {0} has no point {1}': 'Gebäude {0} hat keinen Punkt {1}',
  'Building {0} has no air handler {1}': 'Gebäude {0} hat kein Lüftungsgerät {1}',
  'Building {0} has no equipment {1}': 'Gebäude {0} hat keine Anlage {1}',
  'Equipment {0} has no point {1}': 'Anlage {0} hat keinen Punkt {1}',
  'Equipment {0} has none of {1}': 'Anlage {0} hat nichts von {1}',
  'There is no building {0}': 'Es gibt kein Gebäude {0}',
  'There is no building yet': 'Es gibt noch kein Gebäude',
  'No building is known yet': 'Noch ist kein Gebäude bekannt',
  'There is no rule {0}': 'Es gibt keine Regel {0}',
  'There is no run {0}': 'Es gibt keinen Lauf {0}',
  'There is no finding {0}': 'Es gibt keinen Befund {0}',
  'The building {0} of this finding is not known': 'Das Gebäude {0} dieses Befunds ist nicht bekannt',
  'There is no quantity {0}': 'Es gibt keine Größe {0}',
  'quantity {0} is {1}: set it to NeedsReview before {2}': 'Größe {0} ist {1}: Setzen Sie sie vor {2} auf NeedsReview',
  'No point is chosen': 'Kein Punkt ist gewählt',
  'Choose equipment, or name the new one': 'Wählen Sie eine Anlage, oder benennen Sie die neue',
  'No suggestion is chosen': 'Kein Vorschlag ist gewählt',
  'No fault is chosen': 'Keine Störung ist gewählt',
  'At most {0} faults are changed at once': 'Höchstens {0} Störungen werden auf einmal geändert',
  'Say whom the faults are assigned to': 'Geben Sie an, wem die Störungen zugewiesen werden',
  'Nothing was saved: {0}': 'Nichts wurde gespeichert: {0}',
  'nothing was saved: {0}': 'nichts wurde gespeichert: {0}',
  'point {0} names equipment {1}, which does not exist': 'Punkt {0} nennt die Anlage {1}, die es nicht gibt',
  // Times and trends
  'The month has no such day': 'Der Monat hat keinen solchen Tag',
  'The last day is before the first': 'Der letzte Tag liegt vor dem ersten',
  'A plot holds at most {0} points': 'Eine Kurve zeigt höchstens {0} Punkte',
  'At most {0} points are compared with an earlier time': 'Höchstens {0} Punkte werden mit einer früheren Zeit verglichen',
  'The time ends before it begins, or is shorter than two minutes':
    'Die Zeit endet, bevor sie beginnt, oder ist kürzer als zwei Minuten',
  'The time is longer than five years': 'Die Zeit ist länger als fünf Jahre',
  '{0} is no time such as 2026-11-20T14:00': '{0} ist keine Zeit wie 2026-11-20T14:00',
  'The span ends before it begins': 'Die Zeitspanne endet, bevor sie beginnt',
  'The span is longer than {0} days; ask for it in parts': 'Die Zeitspanne ist länger als {0} Tage; fragen Sie sie in Teilen ab',
  'The span holds {0} million samples, {1} times what one request reads: ask for a shorter one or for less equipment':
    'Die Zeitspanne enthält {0} Millionen Werte, {1}-mal so viele, wie eine Anfrage liest: Wählen Sie eine kürzere oder weniger Anlagen',
  'Anomaly screening is off; SERVICE_SQL_ANOMALY_SCREENING=1 switches it on':
    'Die Suche nach Auffälligkeiten ist aus; SERVICE_SQL_ANOMALY_SCREENING=1 schaltet sie ein',
  'The client has disconnected': 'Die Verbindung wurde beendet',
  // Forms, files and requests
  'The form is not from this session; load the page again':
    'Das Formular gehört nicht zu dieser Sitzung; laden Sie die Seite neu',
  '{0} cannot be read: {1}': '{0} ist nicht lesbar: {1}',
  '"{0}" is no field of this form; it has {1}': '„{0}“ ist kein Feld dieses Formulars; es hat {1}',
  'The field {0} is longer than {1} bytes': 'Das Feld {0} ist länger als {1} Bytes',
  '{0} is a ZIP; unpack it and choose its tables': '{0} ist ein ZIP; entpacken Sie es und wählen Sie seine Tabellen',
  'The form contains no file': 'Es ist keine Datei gewählt',
  'A name in the form is longer than {0} characters': 'Ein Name im Formular ist länger als {0} Zeichen',
  'The form cannot be read: {0}': 'Das Formular ist nicht lesbar: {0}',
  'The cursor is not one that a list has given': 'Diesen Cursor hat keine Liste ausgegeben',
  '{0} no longer exists: read the list from its beginning': '{0} gibt es nicht mehr: Lesen Sie die Liste von vorn',
  'There is no such table in this package': 'In diesem Paket gibt es keine solche Tabelle',
  'There is no such file': 'Es gibt keine solche Datei',
  'the history file {0} cannot be read: {1}': 'Die Datei {0} der Historie ist nicht lesbar: {1}',
  'one of the history files {0} cannot be read: {1}': 'Eine der Dateien {0} der Historie ist nicht lesbar: {1}',
  'the history file {0} is missing': 'Die Datei {0} der Historie fehlt',
  'The body is nested deeper than {0}': 'Der Inhalt ist tiefer verschachtelt als {0}',
  'The disk is full: nothing could be written': 'Die Platte ist voll: Nichts konnte geschrieben werden',
  'Internal error; see the log for request {0}': 'Interner Fehler; siehe das Protokoll zur Anfrage {0}',
  'The header of the request is too long': 'Der Kopf der Anfrage ist zu lang',
  'The request is not valid HTTP ({0})': 'Die Anfrage ist kein gültiges HTTP ({0})',
  'This route is closed: {0} is not set': 'Dieser Weg ist geschlossen: {0} ist nicht gesetzt',
  '{0} has a first password: POST /api/auth/password sets another':
    '{0} hat noch das erste Kennwort: POST /api/auth/password setzt ein anderes',
  'This takes {0}, not {1}': 'Erwartet wird {0}, nicht {1}',
  'The body has {0} bytes; at most {1} are accepted{2}': 'Der Inhalt hat {0} Bytes; höchstens {1} werden angenommen{2}',
  'Nothing answers at {0}': 'Unter {0} antwortet nichts',
  '{0} is not accepted here; use {1}': '{0} wird hier nicht angenommen; verwenden Sie {1}',
  'There is no page or route at {0}': 'Unter {0} gibt es keine Seite',
  '{0} is not accepted anywhere': '{0} wird nirgends angenommen',
})
