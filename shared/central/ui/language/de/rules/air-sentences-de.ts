/** Sentences of the shipped rules: air handlers, chilled water, commands. */
import { nameTable } from '#shared/core/name-table.ts'

export const AIR_SENTENCES_DE = nameTable<string>({
  'The air left {0} from what the coil valves gave in the past, for {1}.':
    'Die Luft wich um {0} von dem ab, was die Registerventile früher ergaben, Dauer {1}.',
  'The cooling valve was at {0} and supply air was {1} warmer than entering air and fan explain, for {2}.':
    'Das Kühlventil stand bei {0}, und die Zuluft war {1} wärmer, als Eintrittsluft und Ventilator erklären, Dauer {2}.',
  'With the cooling valve fully open the unit cooled the air by only {0}, to {1}, for {2}.':
    'Bei voll offenem Kühlventil kühlte das Gerät die Luft nur um {0}, auf {1}, Dauer {2}.',
  'The cooling coil cooled the air by {0} with its valve closed, for {1}.':
    'Das Kühlregister kühlte die Luft bei geschlossenem Ventil um {0}, Dauer {1}.',
  'The heating coil warmed the air by {0} with its valve closed, for {1}.':
    'Das Heizregister erwärmte die Luft bei geschlossenem Ventil um {0}, Dauer {1}.',
  'The heating valve was at {0} and supply air was {1} from mixed air for {2}; the fan alone would warm it.':
    'Das Heizventil stand bei {0}, und die Zuluft lag {1} neben der Mischluft, Dauer {2}; schon der Ventilator würde sie erwärmen.',
  'With the heating valve fully open supply air was {0} below its set point for {1}; the unit warmed the air by only {2}.':
    'Bei voll offenem Heizventil lag die Zuluft {0} unter ihrem Sollwert, Dauer {1}; das Gerät erwärmte die Luft nur um {2}.',
  'With both valves closed supply air differed from mixed air by {0} for {1}; the fan explains {2} to {3}.':
    'Bei geschlossenen Ventilen wich die Zuluft um {0} von der Mischluft ab, Dauer {1}; der Ventilator erklärt {2} bis {3}.',
  'With the fan off and the heating valve closed, supply air was at least {0} above every other air for {1}; only the heating coil can cause that.':
    'Bei stehendem Ventilator und geschlossenem Heizventil war die Zuluft mindestens {0} wärmer als jede andere Luft, Dauer {1}; das kann nur das Heizregister bewirken.',
  'The air behind the preheat coil was {0} above its set point for {1}.':
    'Die Luft nach dem Vorerhitzer lag {0} über ihrem Sollwert, Dauer {1}.',
  'The heating valve was at {0} and the cooling valve at {1} at the same time, for {2}.':
    'Das Heizventil stand bei {0} und zugleich das Kühlventil bei {1}, Dauer {2}.',
  'For each kelvin of cooling the valve opened {0} times as far as usual, for {1}.':
    'Für jedes Kelvin Kühlung öffnete das Ventil {0} Mal so weit wie üblich, Dauer {1}.',
  'The air handler changed its operating state {0} times within an hour, for {1}.':
    'Das Lüftungsgerät wechselte seinen Betriebszustand {0} Mal in einer Stunde, Dauer {1}.',
  'The cooling valve reversed {0} times within an hour and travelled {1} in total, for {2}.':
    'Das Kühlventil kehrte in einer Stunde {0} Mal um und legte insgesamt {1} zurück, Dauer {2}.',
  'The outdoor air damper reversed {0} times within an hour and travelled {1} in total, for {2}.':
    'Die Außenluftklappe kehrte in einer Stunde {0} Mal um und legte insgesamt {1} zurück, Dauer {2}.',
  'The fan speed reversed {0} times within an hour and travelled {1} in total, for {2}.':
    'Die Ventilatordrehzahl kehrte in einer Stunde {0} Mal um und legte insgesamt {1} zurück, Dauer {2}.',
  'The heating valve reversed {0} times within an hour and travelled {1} in total, for {2}.':
    'Das Heizventil kehrte in einer Stunde {0} Mal um und legte insgesamt {1} zurück, Dauer {2}.',
  'A command has not moved for a day and {0} while the fan stopped and started.':
    'Eine Stellgröße hat sich einen Tag und {0} lang nicht bewegt, während der Ventilator stillstand und anlief.',
  'Supply air at {0} missed its set point for {1} while the valve could still move.':
    'Die Zuluft verfehlte mit {0} ihren Sollwert, Dauer {1}, während das Ventil sich noch bewegen konnte.',
  'Supply air was {0} and the reheat valves of the boxes were at {1} on average for {2}.':
    'Die Zuluft hatte {0}, und die Nacherhitzerventile standen im Mittel bei {1}, Dauer {2}.',
  'The set point moved by {0} within ten days of fan operation; a reset would save fan or reheat energy.':
    'Der Sollwert bewegte sich in zehn Tagen Ventilatorbetrieb um {0}; eine Schiebung würde Energie des Ventilators oder der Nachheizung sparen.',
  'At {0} outdoors the supply set point was {1} for {2}.': 'Bei {0} Außentemperatur war der Zuluftsollwert {1}, Dauer {2}.',
  'Supply air swung by {0} about its set point for {1}; {2} is usual.':
    'Die Zuluft schwankte um {0} um ihren Sollwert, Dauer {1}; üblich ist {2}.',
  'At full speed the filter pressure drop would be {0} for {1}; {2} is usual, so the fan moves far less air.':
    'Bei voller Drehzahl wäre der Druckabfall des Filters {0}, Dauer {1}; üblich ist {2}, der Ventilator fördert also weit weniger Luft.',
  'The fan ran {0} of two weeks.': 'Der Ventilator lief {0} von zwei Wochen.',
  'Building pressure was {0} against outdoors for {1}.': 'Der Gebäudedruck gegen außen war {0}, Dauer {1}.',
  'On {0} of ten days the fan ran for hours before occupancy while the room was already comfortable.':
    'An {0} von zehn Tagen lief der Ventilator Stunden vor der Belegung, während der Raum schon behaglich war.',
  'The fan speed stayed at {0} for {1} while duct pressure was {2} from what its loop holds.':
    'Die Ventilatordrehzahl blieb bei {0}, Dauer {1}, während der Kanaldruck {2} neben dem lag, was seine Regelung hält.',
  "The square of the fan's speed was {0} times what pressure and flow usually need, for {1}.":
    'Das Quadrat der Ventilatordrehzahl war {0} Mal so groß, wie Druck und Volumenstrom üblicherweise brauchen, Dauer {1}.',
  'The fan ran at full speed and duct pressure was {0} below its set point for {1}.':
    'Der Ventilator lief mit voller Drehzahl, und der Kanaldruck lag {0} unter seinem Sollwert, Dauer {1}.',
  'At full speed the filter pressure drop would be {0}, for {1}.':
    'Bei voller Drehzahl wäre der Druckabfall des Filters {0}, Dauer {1}.',
  'At {0} the most open box damper was at {1}, for {2}.':
    'Bei {0} stand die am weitesten offene Klappe eines Volumenstromreglers bei {1}, Dauer {2}.',
  'Duct pressure was {0} at a set point of {1} for {2}.': 'Der Kanaldruck war {0} bei einem Sollwert von {1}, Dauer {2}.',
  'The set point moved by {0} within ten days of fan operation; a reset would save fan energy.':
    'Der Sollwert bewegte sich in zehn Tagen Ventilatorbetrieb um {0}; eine Schiebung würde Ventilatorenergie sparen.',
  'The set point stayed at {0} for {1} without requests; trim and respond would lower it.':
    'Der Sollwert blieb ohne Anforderungen bei {0}, Dauer {1}; eine bedarfsgeführte Schiebung würde ihn senken.',
  'Duct pressure swung by {0} of its value about its set point for {1}; {2} is usual.':
    'Der Kanaldruck schwankte um {0} seines Werts um seinen Sollwert, Dauer {1}; üblich ist {2}.',
  'Half of the boxes were open more than {0} at {1}, for {2}.':
    'Die Hälfte der Volumenstromregler war bei {1} mehr als {0} offen, Dauer {2}.',
  'Duct pressure was at most {0} for {1} while the fan ran.':
    'Der Kanaldruck war höchstens {0}, Dauer {1}, während der Ventilator lief.',
  'The fan ran for {0} outside occupied hours.': 'Der Ventilator lief {0} außerhalb der Belegungszeiten.',
  'At {0} outdoors the damper was {1} above its minimum for {2}; coils may freeze.':
    'Bei {0} Außentemperatur stand die Klappe {1} über ihrer Mindeststellung, Dauer {2}; Register können einfrieren.',
  'Outdoor air of {0} was taken in with the damper {1} above its minimum for {2}.':
    'Außenluft von {0} wurde mit der Klappe {1} über ihrer Mindeststellung angesaugt, Dauer {2}.',
  'Outdoor air at {0} could have cooled; the damper was at {1} and the cooling valve at {2} for {3}.':
    'Außenluft von {0} hätte kühlen können; die Klappe stand bei {1} und das Kühlventil bei {2}, Dauer {3}.',
  'The outdoor air damper was fully open and mixed air differed by {0} from outdoor air for {1}.':
    'Die Außenluftklappe war voll offen, und die Mischluft wich um {0} von der Außenluft ab, Dauer {1}.',
  'Outdoor air with the fan heat was at least {0} below the supply set point for {1}; the cooling valve was at {2}.':
    'Außenluft samt Ventilatorwärme lag mindestens {0} unter dem Zuluftsollwert, Dauer {1}; das Kühlventil stand bei {2}.',
  'Mixed air was at least {0} below the colder of return and outdoor air for {1}, which mixing cannot produce.':
    'Die Mischluft lag mindestens {0} unter der kälteren von Abluft und Außenluft, Dauer {1}, was Mischen nicht bewirken kann.',
  'Mixed air was at least {0} above the warmer of return and outdoor air for {1}, which mixing cannot produce.':
    'Die Mischluft lag mindestens {0} über der wärmeren von Abluft und Außenluft, Dauer {1}, was Mischen nicht bewirken kann.',
  'At the minimum damper position outdoor air made up {0} of the mixed air for {1}; the usual share is {2}.':
    'Bei Mindeststellung der Klappe bestand die Mischluft zu {0} aus Außenluft, Dauer {1}; der übliche Anteil ist {2}.',
  'Outdoor air was at least {0} above the supply set point for {1} and the cooling valve stayed closed.':
    'Die Außenluft lag mindestens {0} über dem Zuluftsollwert, Dauer {1}, und das Kühlventil blieb geschlossen.',
  'With heat recovery running the heating valve was at {0} for {1}; {2} is usual for this outdoor air.':
    'Bei laufender Wärmerückgewinnung stand das Heizventil bei {0}, Dauer {1}; üblich ist bei dieser Außenluft {2}.',
  'Behind heat recovery the air was at {0}, {1} beyond what outdoor air at {2} and return air at {3} allow, for {4}.':
    'Hinter der Wärmerückgewinnung hatte die Luft {0}, {1} jenseits dessen, was Außenluft mit {2} und Abluft mit {3} erlauben, Dauer {4}.',
  'Outdoor air at {0}, return air at {1} and a supply set point of {2} asked for the opposite of what heat recovery did, for {3}.':
    'Außenluft mit {0}, Abluft mit {1} und ein Zuluftsollwert von {2} verlangten das Gegenteil dessen, was die Wärmerückgewinnung tat, Dauer {3}.',
  'Heat recovery returned {0} of the temperature difference for {1}; at least {2} is usual.':
    'Die Wärmerückgewinnung gab {0} der Temperaturdifferenz zurück, Dauer {1}; üblich sind mindestens {2}.',
  'At {0} outdoors the cooling valve was at {1} and the damper at {2} for {3}.':
    'Bei {0} Außentemperatur stand das Kühlventil bei {1} und die Klappe bei {2}, Dauer {3}.',
  'Mixed air was {0} from what return air, outdoor air and the damper gave in the past, for {1}.':
    'Die Mischluft wich um {0} von dem ab, was Abluft, Außenluft und Klappe früher ergaben, Dauer {1}.',
  'The outdoor air damper command was {0} below its minimum in occupied hours, for {1}.':
    'Die Stellgröße der Außenluftklappe lag während der Belegung {0} unter ihrem Mindestwert, Dauer {1}.',
  'Mixed air contained at least {0} outdoor air while a coil worked against it, for {1}.':
    'Die Mischluft enthielt mindestens {0} Außenluft, Dauer {1}, während ein Register dagegen arbeitete.',
  'Measured outdoor air flow was {0} of the required minimum for {1}.':
    'Der gemessene Außenluftstrom war {0} des nötigen Mindestwerts, Dauer {1}.',
  'Mixed air contained at most {0} outdoor air in occupied hours, for {1}.':
    'Die Mischluft enthielt während der Belegung höchstens {0} Außenluft, Dauer {1}.',
  'With its coils at rest supply air indicates {0} outdoor air while the damper was at {1}, for {2}.':
    'Bei ruhenden Registern deutet die Zuluft auf {0} Außenluft, während die Klappe bei {1} stand, Dauer {2}.',
  'The outdoor air damper was fully open and outdoor air made up only {0} of the mixed air for {1}.':
    'Die Außenluftklappe war voll offen, und die Mischluft bestand nur zu {0} aus Außenluft, Dauer {1}.',
  'The damper position calls for {0} outdoor air; the mixed air contained {1} for {2}.':
    'Die Klappenstellung verlangt {0} Außenluft; die Mischluft enthielt {1}, Dauer {2}.',
  'The outdoor air damper was closed and outdoor air made up {0} of the mixed air for {1}; the usual leakage is {2}.':
    'Die Außenluftklappe war geschlossen, und die Mischluft bestand zu {0} aus Außenluft, Dauer {1}; die übliche Undichtigkeit ist {2}.',
  'Command and status of the chiller differed for {0}; its water was at {1}.':
    'Befehl und Rückmeldung des Kaltwassersatzes wichen voneinander ab, Dauer {0}; sein Wasser hatte {1}.',
  'The chiller ran for {0} at {1} outdoors, where outdoor air or the tower can cool.':
    'Der Kaltwassersatz lief {0} bei {1} Außentemperatur, bei der Außenluft oder Kühlturm kühlen können.',
  'Refrigerant condensed {0} above the leaving condenser water for {1}; the limit is {2}.':
    'Das Kältemittel verflüssigte {0} über dem austretenden Kühlwasser, Dauer {1}; die Grenze ist {2}.',
  'The chiller started {0} times within an hour, for {1}.': 'Der Kaltwassersatz lief in einer Stunde {0} Mal an, Dauer {1}.',
  'Water returned {0} warmer than it left; at these valves {1} is usual, for {2}.':
    'Das Wasser kam {0} wärmer zurück, als es ausging; bei diesen Ventilen ist {1} üblich, Dauer {2}.',
  'With the pumps at {0} the differential pressure was {1} below its set point for {2}.':
    'Mit den Pumpen bei {0} lag der Differenzdruck {1} unter seinem Sollwert, Dauer {2}.',
  'With the pumps off the sensor read {0} for {1}.': 'Bei stehenden Pumpen zeigte der Fühler {0}, Dauer {1}.',
  'Cooling per kW at equal lift was {0} of the usual value for {1}.':
    'Die Kälte je kW bei gleichem Hub war {0} des üblichen Werts, Dauer {1}.',
  'Refrigerant evaporated {0} below the leaving chilled water for {1}; the limit is {2}.':
    'Das Kältemittel verdampfte {0} unter dem austretenden Kaltwasser, Dauer {1}; die Grenze ist {2}.',
  'With the pumps at {0} the flow was {1} for {2}; the design flow is {3}.':
    'Mit den Pumpen bei {0} war der Durchfluss {1}, Dauer {2}; ausgelegt ist {3}.',
  'With the pumps off the meter read {0} for {1}.': 'Bei stehenden Pumpen zeigte der Zähler {0}, Dauer {1}.',
  'Chilled water returned only {0} warmer at more than minimum flow, for {1}.':
    'Das Kaltwasser kam bei mehr als Mindestdurchfluss nur {0} wärmer zurück, Dauer {1}.',
  'With the bypass at {0} the chiller flow was {1} below its minimum for {2}.':
    'Mit dem Überströmventil bei {0} lag der Durchfluss des Kaltwassersatzes {1} unter seinem Mindestwert, Dauer {2}.',
  'All cooling valves were closed (the most open at {0}) while chillers ran for {1}.':
    'Alle Kühlventile waren geschlossen (das am weitesten offene bei {0}), während Kaltwassersätze liefen, Dauer {1}.',
  'In two weeks the set point moved by {0} at {1} to {2} outdoors.':
    'In zwei Wochen bewegte sich der Sollwert bei {1} bis {2} Außentemperatur um {0}.',
  'Chilled water was {0} below its set point of {1} for {2}.': 'Das Kaltwasser lag {0} unter seinem Sollwert von {1}, Dauer {2}.',
  'Chilled water stayed at {0} with {1} requests for {2}.': 'Das Kaltwasser blieb bei {0} mit {1} Anforderungen, Dauer {2}.',
  'Chilled water left the heat exchanger {0} above the condenser water for {1}.':
    'Das Kaltwasser verließ den Wärmeübertrager {0} über dem Kühlwasser, Dauer {1}.',
  'The damper position differed by {0} from its command ({1}) for {2}.':
    'Die Klappenstellung wich um {0} von ihrer Stellgröße ({1}) ab, Dauer {2}.',
  'The cooling valve position differed by {0} from its command ({1}) for {2}.':
    'Die Stellung des Kühlventils wich um {0} von seiner Stellgröße ({1}) ab, Dauer {2}.',
  'Command and status of the fan differed for {0}.': 'Befehl und Rückmeldung des Ventilators wichen voneinander ab, Dauer {0}.',
  'The fan speed differed by {0} from its command ({1}) for {2}.':
    'Die Drehzahl des Ventilators wich um {0} von ihrer Stellgröße ({1}) ab, Dauer {2}.',
  'The heating valve position differed by {0} from its command ({1}) for {2}.':
    'Die Stellung des Heizventils wich um {0} von seiner Stellgröße ({1}) ab, Dauer {2}.',
  'The outdoor air damper position differed by {0} from its command ({1}) for {2}.':
    'Die Stellung der Außenluftklappe wich um {0} von ihrer Stellgröße ({1}) ab, Dauer {2}.',
  'Command and status of the pump differed for {0}.': 'Befehl und Rückmeldung der Pumpe wichen voneinander ab, Dauer {0}.',
  'The reheat valve position differed by {0} from its command ({1}) for {2}.':
    'Die Stellung des Nacherhitzerventils wich um {0} von seiner Stellgröße ({1}) ab, Dauer {2}.',
  'Command and status of the return fan differed for {0}.':
    'Befehl und Rückmeldung des Abluftventilators wichen voneinander ab, Dauer {0}.',
  'Chilled water was at {0}, {1} above what was set or can be expected, for {2}.':
    'Das Kaltwasser hatte {0}, {1} über dem Gesetzten oder zu Erwartenden, Dauer {2}.',
  '{0} travelled {1} within four hours and turned {2} times, for {3}; {4} and {5} are usual.':
    '{0} legte in vier Stunden {1} zurück und kehrte {2} Mal um, Dauer {3}; üblich sind {4} und {5}.',
})
