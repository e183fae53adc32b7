/** Sentences of the shipped rules: fan coils, hot water, meters, overrides, sensors, boxes and rooms. */
import { nameTable } from '#shared/core/name-table.ts'

export const PLANT_SENTENCES_DE = nameTable<string>({
  'The room was at {0} (set points {1} and {2}) with the valve fully open, for {3}.':
    'Der Raum hatte {0} (Sollwerte {1} und {2}) bei voll offenem Ventil, Dauer {3}.',
  'CO2 was {0} with the fresh air damper at {1}, for {2}.': 'CO2 war {0} mit der Frischluftklappe bei {1}, Dauer {2}.',
  'The air was cooled {0} of the way to its water with the valve at {1}, for {2}; far too little air passes the coil.':
    'Die Luft kam ihrem Kühlwasser auf {0} des Weges nahe, mit dem Ventil bei {1}, Dauer {2}; durch das Register strömt viel zu wenig Luft.',
  'With the valve at {0} the air was cooled by only {1}, for {2}.':
    'Mit dem Ventil bei {0} wurde die Luft nur um {1} gekühlt, Dauer {2}.',
  'With the valve at {0} the air was warmed by only {1}, for {2}.':
    'Mit dem Ventil bei {0} wurde die Luft nur um {1} erwärmt, Dauer {2}.',
  'Within two hours heating and cooling started {0} times each, for {1}.':
    'In zwei Stunden begannen Heizen und Kühlen je {0} Mal, Dauer {1}.',
  'The cooling valve was at {0} and the heating valve at {1} at the same time, for {2}.':
    'Das Kühlventil stand bei {0} und zugleich das Heizventil bei {1}, Dauer {2}.',
  'With the fan off and its valves closed the outlet was {0} further from the room than usual, for {1}.':
    'Bei stehendem Ventilator und geschlossenen Ventilen war der Auslass {0} weiter vom Raum entfernt als üblich, Dauer {1}.',
  'With its valves closed the air left {0} warmer than it entered for {1}; the usual difference is {2}.':
    'Bei geschlossenen Ventilen trat die Luft {0} wärmer aus als ein, Dauer {1}; üblich ist {2}.',
  'Command and status of the boiler differed for {0}; its water was at {1}.':
    'Befehl und Rückmeldung des Kessels wichen voneinander ab, Dauer {0}; sein Wasser hatte {1}.',
  'The boiler started {0} times within an hour, for {1}.': 'Der Kessel lief in einer Stunde {0} Mal an, Dauer {1}.',
  'The hot water swung by {0} within two hours and turned {1} times; {2} and {3} are usual.':
    'Das Heizwasser schwankte in zwei Stunden um {0} und kehrte {1} Mal um; üblich sind {2} und {3}.',
  'Hot water returned only {0} colder than supplied while boilers and pumps ran, for {1}.':
    'Das Heizwasser kam nur {0} kälter zurück, während Kessel und Pumpen liefen, Dauer {1}.',
  'With the bypass at {0} the boiler flow was {1} below its minimum for {2}.':
    'Mit dem Überströmventil bei {0} lag der Durchfluss des Kessels {1} unter seinem Mindestwert, Dauer {2}.',
  'Heat was demanded and hot water was at {0}, {1} below what was set or can be expected, without rising, for {2}.':
    'Wärme war angefordert, und das Heizwasser lag mit {0} um {1} unter dem, was eingestellt oder zu erwarten ist, ohne zu steigen, Dauer {2}.',
  'Return water to the boiler was at {0} for {1}; below 57 °C flue gas condenses and corrodes it.':
    'Der Rücklauf zum Kessel hatte {0}, Dauer {1}; unter 57 °C kondensiert Abgas und greift ihn an.',
  'Return water to a condensing boiler was at {0} for {1}; flue gas condenses below 57 °C.':
    'Der Rücklauf zu einem Brennwertkessel hatte {0}, Dauer {1}; Abgas kondensiert unter 57 °C.',
  'Hot water was {0} above its set point of {1} while the boiler ran, for {2}.':
    'Das Heizwasser lag {0} über seinem Sollwert von {1}, während der Kessel lief, Dauer {2}.',
  'Hot water was {0} below its set point of {1} for {2}.': 'Das Heizwasser lag {0} unter seinem Sollwert von {1}, Dauer {2}.',
  'The boiler ran for {0} at {1} outdoors.': 'Der Kessel lief {0} bei {1} Außentemperatur.',
  'Hot water stayed at {0} with {1} requests for {2}.': 'Das Heizwasser blieb bei {0} mit {1} Anforderungen, Dauer {2}.',
  'The boiler fired {0} of six hours to keep the water {1} apart; that is {2} of the heat that it used to give.':
    'Der Kessel feuerte {0} von sechs Stunden, um das Wasser {1} auseinander zu halten; das sind {2} der Wärme, die er früher gab.',
  'The counter fell by {0} within an hour.': 'Der Zähler fiel in einer Stunde um {0}.',
  'The counter did not move for six hours at a load of {0}.':
    'Der Zähler bewegte sich sechs Stunden lang nicht bei einer Last von {0}.',
  'The mean load of two days was {0}; {1} a day is usual.': 'Die mittlere Last zweier Tage war {0}; üblich sind {1} am Tag.',
  'The night load was {0} of the day load; {1} is usual.': 'Die Nachtlast war {0} der Taglast; üblich ist {1}.',
  'Energy of a day divided by its mean power was {0} hours instead of 24, for {1}.':
    'Die Energie eines Tages geteilt durch die mittlere Leistung ergab {0} statt 24 Stunden, Dauer {1}.',
  'The commanding level of {0} changed at {1} visits within a day':
    'Die bestimmende Stufe von {0} wechselte bei {1} Besuchen an einem Tag',
  '{0} was newly overridden on {1} of the last fourteen days': '{0} wurde an {1} der letzten vierzehn Tage neu übersteuert',
  '{0} was held at level {1} at visits over {2}': '{0} wurde bei Besuchen über {2} auf Stufe {1} gehalten',
  '{0} was held at level {1} (life safety) at visits over {2}':
    '{0} wurde bei Besuchen über {2} auf Stufe {1} (Sicherheit) gehalten',
  '{0} was held by an operator (level 8) at every visit of {1}':
    '{0} wurde bei jedem Besuch über {1} von einem Bediener gehalten (Stufe 8)',
  "{0} was held at level {1} while the program's command moved by {2} within a day":
    '{0} wurde auf Stufe {1} gehalten, während sich der Befehl des Programms an einem Tag um {2} bewegte',
  '{0} was held at {1}; the program commands {2}, at every visit of {3}':
    '{0} wurde auf {1} gehalten; das Programm verlangt {2}, bei jedem Besuch über {3}',
  'Auxiliary heat ran for {0} at {1} outdoors without the compressor.':
    'Die Zusatzheizung lief {0} bei {1} Außentemperatur ohne den Verdichter.',
  'Auxiliary heat ran for {0} at {1} outdoors.': 'Die Zusatzheizung lief {0} bei {1} Außentemperatur.',
  'With the compressor running the air was cooled by {0} for {1}; at least {2} is usual.':
    'Bei laufendem Verdichter wurde die Luft um {0} gekühlt, Dauer {1}; üblich sind mindestens {2}.',
  'The unit spent {0} of six hours defrosting, for {1}.': 'Das Gerät taute {0} von sechs Stunden ab, Dauer {1}.',
  'While heating the unit supplied {0} to a room at {1}, for {2}.':
    'Beim Heizen lieferte das Gerät {0} in einen Raum mit {1}, Dauer {2}.',
  'While heating the unit changed the air temperature by {0}, for {1}.':
    'Beim Heizen änderte das Gerät die Lufttemperatur um {0}, Dauer {1}.',
  'The running stages changed the air by {0} for {1}; too little air passes them.':
    'Die laufenden Stufen änderten die Luft um {0}, Dauer {1}; zu wenig Luft strömt durch sie.',
  'The room was {0} above its set point and the compressor ran only {1} of the hour, for {2}.':
    'Der Raum lag {0} über seinem Sollwert und der Verdichter lief nur {1} der Stunde, Dauer {2}.',
  'The compressor cooled for {0} at {1} outdoors.': 'Der Verdichter kühlte {0} bei {1} Außentemperatur.',
  'Command and status of the compressor differed for {0}.':
    'Befehl und Rückmeldung des Verdichters wichen voneinander ab, Dauer {0}.',
  'With the heater running the air was warmed by {0} for {1}.': 'Bei laufender Heizung wurde die Luft um {0} erwärmt, Dauer {1}.',
  'The compressor started {0} times within an hour and ran {1} of it, for {2}.':
    'Der Verdichter lief in einer Stunde {0} Mal an und davon {1}, Dauer {2}.',
  'Compressor and heater ran at the same time for {0}.': 'Verdichter und Heizung liefen zugleich, Dauer {0}.',
  'For {0} half of the valves were at {1} or more, and the pumps held {2}.':
    'Für {0} war die Hälfte der Ventile auf {1} oder mehr, und die Pumpen hielten {2}.',
  'The system pressure was {0} for {1}; the expansion tank needs {2}.':
    'Der Anlagendruck war {0}, Dauer {1}; das Ausdehnungsgefäß braucht {2}.',
  'The plant changed its stage {0} times within an hour, for {1}.':
    'Die Zentrale schaltete in einer Stunde {0} Mal ihre Stufe, Dauer {1}.',
  'The pump ran {0} of the week, {1} of it at full speed; its drive saves nothing.':
    'Die Pumpe lief {0} der Woche, davon {1} mit voller Drehzahl; ihr Umrichter spart nichts.',
  'The pump ran and the meter read {0} for {1}.': 'Die Pumpe lief, und der Zähler zeigte {0}, Dauer {1}.',
  'The fan had been off for hours and the supply air sensor differed from its neighbour by {0}, for {1}; it used to be {2}.':
    'Der Ventilator stand seit Stunden, und der Zuluftfühler wich um {0} von seinem Nachbarn ab, Dauer {1}; früher waren es {2}.',
  '{0} was at {1} without any change for a day and {2} more, although the equipment ran.':
    '{0} stand bei {1} ohne jede Änderung für einen Tag und weitere {2}, obwohl die Anlage lief.',
  'The boxes together reported {0} and the air handler {1}, for {2}.':
    'Die Volumenstromregler meldeten zusammen {0} und das Lüftungsgerät {1}, Dauer {2}.',
  'With the fan off the flow sensor reported {0} for {1}.':
    'Bei stehendem Ventilator meldete der Durchflussfühler {0}, Dauer {1}.',
  'Only {0} of a day of {1} was received, for {2}.': 'Nur {0} eines Tages von {1} kam an, Dauer {2}.',
  'The outdoor air sensor was {0} from the weather station all day; {1} is usual.':
    'Der Außenluftfühler lag den ganzen Tag {0} neben der Wetterstation; üblich sind {1}.',
  'The outdoor air sensor read up to {0} above the weather station for hours of each day and was right otherwise.':
    'Der Außenluftfühler zeigte jeden Tag stundenlang bis zu {0} mehr als die Wetterstation und war sonst richtig.',
  'The outdoor air sensor read {0} from the weather station for {1}.':
    'Der Außenluftfühler zeigte {0} Abstand zur Wetterstation, Dauer {1}.',
  '{0} of {1} sensors had stopped reporting at the worst moment, for {2}.':
    '{0} von {1} Fühlern meldeten im schlimmsten Augenblick nichts mehr, Dauer {2}.',
  '{0} was {1}, outside the physically plausible range, for {2}.':
    '{0} war {1}, außerhalb des physikalisch plausiblen Bereichs, Dauer {2}.',
  'Return air was {0} from the rooms for {1}; {2} is usual.': 'Die Abluft lag {0} neben den Räumen, Dauer {1}; üblich ist {2}.',
  'The fan had been off for hours and discharge minus room was {0}, for {1}; it used to be {2}.':
    'Der Ventilator stand seit Stunden, und Auslass minus Raum war {0}, Dauer {1}; früher waren es {2}.',
  'The coldest box supplied air {0} from the supply air sensor for {1}; {2} is usual.':
    'Der kälteste Volumenstromregler lieferte Luft mit {0} Abstand zum Zuluftfühler, Dauer {1}; üblich ist {2}.',
  '{0} spiked {1} times within a day.': '{0} sprang an einem Tag {1} Mal kurzzeitig.',
  '{0} had not reported for {1} at the worst moment.': '{0} hatte im schlimmsten Augenblick seit {1} nichts gemeldet.',
  '{0} changed by {1} within ten minutes to {2}, faster than the measured quantity can.':
    '{0} änderte sich in zehn Minuten um {1} auf {2}, schneller, als die Messgröße kann.',
  '{0} was {1} for a day: hardly possible in its unit, ordinary in another (°F for °C, percent for a fraction, pascal for inches of water).':
    '{0} war einen Tag lang {1}: kaum möglich in seiner Einheit, gewöhnlich in einer anderen (°F statt °C, Prozent statt eines Anteils, Pascal statt Zoll Wassersäule).',
  'The outdoor air sensor read {0} and the weather station {1}; one of them is in °C and said to be in °F, or the other way round.':
    'Der Außenluftfühler zeigte {0} und die Wetterstation {1}; eine der beiden misst in °C und gilt als °F, oder umgekehrt.',
  '{0} went up and down for two days and never beyond {1}: a share of 0 to 1 that is said to be percent.':
    '{0} ging zwei Tage lang auf und ab und nie über {1} hinaus: ein Anteil von 0 bis 1, der als Prozent gilt.',
  'With the machine on its supply and return differed by {0} in the wrong direction; the two points are probably exchanged.':
    'Bei laufender Maschine wichen Vor- und Rücklauf um {0} in der falschen Richtung ab; die beiden Punkte sind wahrscheinlich vertauscht.',
  'With its damper free the box held {0} against a set point of {1}; one of them is in L/s, m³/h, cfm or m³/s and said to be in another of these.':
    'Mit freier Klappe hielt die Box {0} bei einem Sollwert von {1}; einer von beiden ist in L/s, m³/h, cfm oder m³/s und als eine andere dieser Einheiten angegeben.',
  'Within a day the room moved by {0} and the air that it is supplied with by {1}; the two points are probably exchanged.':
    'An einem Tag schwankte der Raum um {0} und die Luft, die er bekommt, um {1}; die beiden Punkte sind wahrscheinlich vertauscht.',
  'What is called mixed air was {0} from the supply air set point, and supply air {1}; the two points are probably exchanged.':
    'Was Mischluft heißt, lag {0} vom Sollwert der Zuluft, und die Zuluft {1}; die beiden Punkte sind wahrscheinlich vertauscht.',
  'What is called return air was {0} and held at the set point of supply air, and supply air was {1}; the two points are probably exchanged.':
    'Was Abluft heißt, war {0} und wurde am Sollwert der Zuluft gehalten, und die Zuluft war {1}; die beiden Punkte sind wahrscheinlich vertauscht.',
  'The pumps had been off for hours and supply minus return was {0}, for {1}; it used to be {2}.':
    'Die Pumpen standen seit Stunden, und Vorlauf minus Rücklauf war {0}, Dauer {1}; früher waren es {2}.',
  "At full demand the tower's water was at {0}, at least {1} above the wet bulb, for {2}; the limit is {3}.":
    'Bei voller Anforderung hatte das Wasser des Kühlturms {0}, mindestens {1} über der Feuchtkugeltemperatur, Dauer {2}; die Grenze ist {3}.',
  "With its fans at {0} the tower's water was at {1}, {2} above the usual, for {3}.":
    'Mit seinen Ventilatoren bei {0} hatte das Wasser des Kühlturms {1}, {2} über dem Üblichen, Dauer {3}.',
  'With the fans at {0} the tower supplied water at {1} for {2}.':
    'Mit den Ventilatoren bei {0} lieferte der Kühlturm Wasser mit {1}, Dauer {2}.',
  'The tower fans ran at {0} to come within {1} of the wet bulb, for {2}.':
    'Die Kühlturmventilatoren liefen mit {0}, um bis auf {1} an die Feuchtkugeltemperatur zu kommen, Dauer {2}.',
  '{0} passed through a closed damper for {1}.': '{0} strömten durch eine geschlossene Klappe, Dauer {1}.',
  'Discharge air was {0} colder than the supply air of the air handler for {1}.':
    'Die Luft am Auslass war {0} kälter als die Zuluft des Lüftungsgeräts, Dauer {1}.',
  'With the reheat valve fully open discharge air was {0} below its set point for {1}.':
    'Bei voll offenem Nacherhitzerventil lag die Luft am Auslass {0} unter ihrem Sollwert, Dauer {1}.',
  'The damper was at {0} and the flow sensor read {1} of {2} for {3}.':
    'Die Klappe stand bei {0}, und der Durchflussfühler zeigte {1} von {2}, Dauer {3}.',
  'Air flow at {0} missed its set point of {1} hour after hour, with the damper at {2}.':
    'Der Volumenstrom verfehlte mit {0} Stunde um Stunde seinen Sollwert von {1}, mit der Klappe bei {2}.',
  'The air flow set point was {0} all day and night; the maximum is {1}.':
    'Der Volumenstromsollwert war Tag und Nacht {0}; der Höchstwert ist {1}.',
  'With the fan off the box reported {0} for {1}.': 'Bei stehendem Ventilator meldete der Volumenstromregler {0}, Dauer {1}.',
  'The damper reversed {0} times within an hour and travelled {1} in total, for {2}.':
    'Die Klappe kehrte in einer Stunde {0} Mal um und legte insgesamt {1} zurück, Dauer {2}.',
  'The reheat valve reversed {0} times within an hour and travelled {1} in total, for {2}.':
    'Das Nacherhitzerventil kehrte in einer Stunde {0} Mal um und legte insgesamt {1} zurück, Dauer {2}.',
  'Air flow was {0} of {1} for {2}.': 'Der Volumenstrom war {0} von {1}, Dauer {2}.',
  'The minimum flow is {0} of {1}, and the box reheated {2} of the day.':
    'Der Mindestvolumenstrom ist {0} von {1}, und der Regler heizte {2} des Tages nach.',
  'Air flow was {0}, its minimum {1}, for {2}.': 'Der Volumenstrom war {0}, sein Mindestwert {1}, Dauer {2}.',
  'The room was {0} too cold and the box supplied {1} of cold air for {2}.':
    'Der Raum war {0} zu kalt, und der Regler lieferte {1} kalte Luft, Dauer {2}.',
  'Discharge air was {0} warmer than the supply air with the reheat valve closed, for {1}.':
    'Die Luft am Auslass war bei geschlossenem Nacherhitzerventil {0} wärmer als die Zuluft, Dauer {1}.',
  'At more than {0} outdoors the reheat valve was at {1} for {2}.':
    'Bei mehr als {0} Außentemperatur stand das Nacherhitzerventil bei {1}, Dauer {2}.',
  'The reheat valve was at {0} and the room stayed {1} below its set point, for {2}.':
    'Das Nacherhitzerventil stand bei {0}, und der Raum blieb {1} unter seinem Sollwert, Dauer {2}.',
  'The reheat valve was at {0} and warmed the air by {1} for {2}.':
    'Das Nacherhitzerventil stand bei {0} und erwärmte die Luft um {1}, Dauer {2}.',
  'The zone sent requests in {0} of the operating hours of a week and alone drives the reset.':
    'Der Raum sandte in {0} der Betriebsstunden einer Woche Anforderungen und bestimmt allein die Schiebung.',
  'The damper was fully open and air flow was {0} of its set point for {1}.':
    'Die Klappe war voll offen, und der Volumenstrom war {0} seines Sollwerts, Dauer {1}.',
  'The dew point was {0} above the air temperature for {1}, which is impossible.':
    'Der Taupunkt lag {0} über der Lufttemperatur, Dauer {1}, was unmöglich ist.',
  'The temperature of the weather station changed by {0} within ten minutes.':
    'Die Temperatur der Wetterstation änderte sich in zehn Minuten um {0}.',
  'The wet bulb was {0} above the dry bulb for {1}, which is impossible.':
    'Die Feuchtkugeltemperatur lag {0} über der Trockenkugeltemperatur, Dauer {1}, was unmöglich ist.',
  'The fan ran at full speed with supply air {0} from the room, which still moved by {1} in two hours, for {2}.':
    'Der Ventilator lief mit voller Drehzahl und Zuluft {0} neben dem Raum, der sich dennoch in zwei Stunden um {1} bewegte, Dauer {2}.',
  'Carbon dioxide was {0} for {1}.': 'Kohlendioxid war {0}, Dauer {1}.',
  'The sensor read {0} for {1}; outdoor air contains more than 400 ppm, and an empty room approaches it.':
    'Der Fühler zeigte {0}, Dauer {1}; Außenluft enthält mehr als 400 ppm, und ein leerer Raum nähert sich dem.',
  'The room was at {0} for {1} of occupied time; no set point is known.':
    'Der Raum hatte {0}, Dauer {1} während der Belegung; ein Sollwert ist nicht bekannt.',
  'The heating and cooling set points were only {0} apart for {1}.':
    'Heizsollwert und Kühlsollwert lagen nur {0} auseinander, Dauer {1}.',
  'The room was at {0} with the fan on while unoccupied, for {1}.':
    'Der Raum hatte ohne Belegung bei laufendem Ventilator {0}, Dauer {1}.',
  'In a week the set points moved by no more than {0} overnight.':
    'In einer Woche bewegten sich die Sollwerte über Nacht um höchstens {0}.',
  'The room was {0} beyond its set points for hours, for {1}.':
    'Der Raum lag stundenlang {0} neben seinen Sollwerten, Dauer {1}.',
  'The room was {0} beyond its set points for {1} of occupied time.':
    'Der Raum lag {0} neben seinen Sollwerten, Dauer {1} während der Belegung.',
  "The box's air flow was {0} from what its damper and the duct's pressure gave in the past, {1}, for {2}.":
    'Der Volumenstrom wich um {0} von dem ab, was Klappe und Kanaldruck früher ergaben, {1}, Dauer {2}.',
  'The box damper was {0} from the opening that its air flow used to need, for {1}.':
    'Die Klappe lag {0} neben der Öffnung, die ihr Volumenstrom früher brauchte, Dauer {1}.',
  'With the fan off for hours the supply air sensor differed from its neighbour by {0}, later by {1}. It was so from {2} to {3} and was found on {4}, because the later weeks show that the beginning was not normal.':
    'Bei seit Stunden stehendem Ventilator wich der Zuluftfühler um {0} von seinem Nachbarn ab, später um {1}. Das war von {2} bis {3} so und wurde am {4} gefunden, weil die späteren Wochen zeigen, dass der Anfang nicht normal war.',
  'With the fan off for hours discharge minus room was {0}, later {1}. It was so from {2} to {3} and was found on {4}, because the later weeks show that the beginning was not normal.':
    'Bei seit Stunden stehendem Ventilator war Auslass minus Raum {0}, später {1}. Das war von {2} bis {3} so und wurde am {4} gefunden, weil die späteren Wochen zeigen, dass der Anfang nicht normal war.',
  'The coldest box supplied air {0} from the supply air sensor, later {1}. It was so from {2} to {3} and was found on {4}, because the later weeks show that the beginning was not normal.':
    'Der kälteste Volumenstromregler lieferte Luft mit {0} Abstand zum Zuluftfühler, später {1}. Das war von {2} bis {3} so und wurde am {4} gefunden, weil die späteren Wochen zeigen, dass der Anfang nicht normal war.',
  'Return air was {0} from the rooms, later {1}. It was so from {2} to {3} and was found on {4}, because the later weeks show that the beginning was not normal.':
    'Die Abluft lag {0} neben den Räumen, später {1}. Das war von {2} bis {3} so und wurde am {4} gefunden, weil die späteren Wochen zeigen, dass der Anfang nicht normal war.',
  'The air left {0} from what later weeks give for the same opening of the coil valves. It was so from {1} to {2} and was found on {3}, because the later weeks show that the beginning was not normal.':
    'Die Luft wich um {0} von dem ab, was spätere Wochen bei gleicher Stellung der Registerventile ergeben. Das war von {1} bis {2} so und wurde am {3} gefunden, weil die späteren Wochen zeigen, dass der Anfang nicht normal war.',
  'The box supplied {0} of air {1} colder than its room with the reheat valve closed, and the room stayed {2} above its cooling set point, for {3}.':
    'Der Volumenstromregler lieferte bei geschlossenem Nacherhitzerventil {0} Luft, {1} kälter als der Raum, und der Raum blieb {2} über seinem Kühlsollwert, Dauer {3}.',
  'Half of the valves were at {0} or more and the water came back {1} from how it left, for {2}; {3} is much for this plant.':
    'Die Hälfte der Ventile stand auf {0} oder mehr, und das Wasser kam mit {1} Abstand zum Vorlauf zurück, Dauer {2}; {3} sind für diese Anlage viel.',
})
