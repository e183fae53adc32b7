/** The page Network of a box. */
import { nameTable } from '#shared/core/name-table.ts'

export const NETWORK_DE = nameTable<string>({
  "This appliance does not run on Plenum's own system image, or has only just started: its network is set like that of any other machine.":
    'Diese Appliance läuft nicht auf dem Systemabbild von Plenum oder ist eben erst gestartet: Ihr Netz wird wie das jedes anderen Rechners eingestellt.',
  'The settings that were tried last are kept.': 'Die zuletzt erprobten Einstellungen bleiben.',
  'The settings that were tried last are set back': 'Die zuletzt erprobten Einstellungen sind zurückgenommen',
  'The settings that were asked for last were refused': 'Die zuletzt gewünschten Einstellungen wurden abgelehnt',
  'The box starts with the new settings': 'Die Box startet mit den neuen Einstellungen',
  'This takes about a minute. Open the page at the new address, sign in, and keep them here.':
    'Das dauert etwa eine Minute. Öffnen Sie die Seite unter der neuen Adresse, melden Sie sich an und behalten Sie die Einstellungen hier.',
  'These settings are tried': 'Diese Einstellungen werden erprobt',
  'You have reached the box with them. Unless somebody keeps them, the box goes back to the ones before at {0}.':
    'Sie haben die Box damit erreicht. Wenn niemand sie behält, kehrt die Box um {0} zu den vorigen zurück.',
  'Keep these settings': 'Diese Einstellungen behalten',
  'The box starts once with what is saved here, and polling stops for about a minute. Nothing can go wrong for good: when nobody keeps the new settings within ten minutes, the box sets the ones before back by itself.':
    'Die Box startet einmal mit dem, was hier gespeichert wird, und liest etwa eine Minute lang nicht. Auf Dauer kann nichts schiefgehen: Wenn niemand die neuen Einstellungen innerhalb von zehn Minuten behält, stellt die Box die vorigen selbst wieder her.',
  'Network of the page and the hub': 'Netz der Seite und des Hubs',
  'Network interface <1>{0}</1>.': 'Netzwerkschnittstelle <1>{0}</1>.',
  'Address with prefix': 'Adresse mit Präfix',
  Gateway: 'Gateway',
  'Name servers': 'Namensserver',
  'Time servers': 'Zeitserver',
  'Names or addresses, separated by commas. Without one the network may name one, or the hub gives the time.':
    'Namen oder Adressen, durch Kommas getrennt. Ohne Angabe kann das Netz einen nennen, oder der Hub gibt die Zeit.',
  'Save and start the box with them': 'Speichern und die Box damit starten',
  'What the firewall lets out, TCP ports, and which network interface is which come with the file <1>{0}</1> on a USB stick.':
    'Was die Firewall hinauslässt, TCP-Ports und welche Netzwerkschnittstelle welche ist, kommt mit der Datei <1>{0}</1> auf einem USB-Stick.',
  'Network of the controllers': 'Netz der Regler',
  'Network interface <1>{0}</1>. Nothing is forwarded between the two networks.':
    'Netzwerkschnittstelle <1>{0}</1>. Zwischen den beiden Netzen wird nichts weitergeleitet.',
  'nobody kept them within 10 minutes': 'niemand hat sie innerhalb von 10 Minuten behalten',
  'the network was set at the box itself': 'das Netz wurde an der Box selbst eingestellt',
  'Network of the page and the hub, address': 'Netz der Seite und des Hubs, Adresse',
  'Network of the page and the hub, gateway': 'Netz der Seite und des Hubs, Gateway',
  'Network of the page and the hub, name servers': 'Netz der Seite und des Hubs, Namensserver',
  'Network of the controllers, address': 'Netz der Regler, Adresse',
  'The network gives the address (DHCP)': 'Das Netz gibt die Adresse (DHCP)',
  'A fixed address': 'Eine feste Adresse',
})

/** What is wrong with settings of the network, recognised by its English text. */
export const NETWORK_COMPLAINTS_DE = nameTable<string>({
  'is no IPv4 address with its prefix, as 192.168.10.5/24': 'ist keine IPv4-Adresse mit ihrem Präfix, wie 192.168.10.5/24',
  'is no IPv4 address, as 192.168.10.1': 'ist keine IPv4-Adresse, wie 192.168.10.1',
  'is no name and no address of a server': 'ist weder Name noch Adresse eines Servers',
  'is the one of /uplink; leave /ot out when there is one network':
    'ist derselbe wie in /uplink; lassen Sie /ot weg, wenn es nur ein Netz gibt',
  'the network of the controllers has no way out': 'das Netz der Regler führt nirgends hinaus',
  '{0} is no value of {1}': '{0} ist kein Wert von {1}',
  '{0} is no address of a broadcast manager': '{0} ist keine Adresse einer Broadcast-Verwaltung',
  '{0} is this machine, and a broadcast manager is another one':
    '{0} ist diese Maschine, und eine Broadcast-Verwaltung ist eine andere',
  '{0} is on {1}: the firewall of this box lets BACnet through on {2} alone':
    '{0} ist an {1}: die Firewall dieser Box lässt BACnet nur an {2} durch',
  'The firewall of this box lets BACnet through at UDP port {0} alone: bacnet_ports of system.json on a USB stick opens others':
    'Die Firewall dieser Box lässt BACnet nur an UDP-Port {0} durch: bacnet_ports in system.json auf einem USB-Stick öffnet andere',
  '{0} is no address of this machine': '{0} ist keine Adresse dieser Maschine',
  'Port {0} of {1} cannot be used: {2}': 'Port {0} von {1} ist nicht benutzbar: {2}',
  'needs an address beside it': 'braucht eine Adresse daneben',
  '{0} is not in the network {1}': '{0} liegt nicht im Netz {1}',
  '{0} is the name of a network or of all its machines, and of no machine':
    '{0} bezeichnet ein Netz oder alle seine Rechner und keinen einzelnen',
  'is in the network of the uplink, so the box would not know which way to send':
    'liegt im Netz der Seite und des Hubs; die Box wüsste nicht, wohin sie senden soll',
  'this box has no network of the controllers': 'diese Box hat kein eigenes Netz der Regler',
  'This appliance does not run on a system whose network it can set':
    'Diese Appliance läuft nicht auf einem System, dessen Netz sie einstellen kann',
  'The box tries other settings of the network: keep them first, or wait until they are set back':
    'Die Box erprobt andere Netzeinstellungen: Behalten Sie diese zuerst, oder warten Sie, bis sie zurückgenommen sind',
  'The box tries an update: wait until it is confirmed': 'Die Box erprobt eine Aktualisierung: Warten Sie, bis sie bestätigt ist',
  'The box tries no settings of the network': 'Die Box erprobt keine Netzeinstellungen',
})
