/** The words of point names, in full and as people shorten them, and which Haystack tags they stand for. */

/** Tags in a row of blanks; `a|b` where only the unit tells which is meant. */
const MEANINGS: Record<string, string> = {
  // the air
  'oa osa os oda outside outdoor outsideair outdoorair fresh ambient': 'outside air',
  'ma mixed mix mixedair': 'mixed air',
  'ra ret return returnair': 'return air',
  'sa sup supply supplyair da dis disch discharge dischargeair dsch lvg': 'discharge air',
  'ea exh exhaust relief rel': 'exhaust air',
  'zn zone rm room space spc': 'zone air',
  'oat oatemp': 'outside air temp',
  'mat matemp': 'mixed air temp',
  'rat ratemp': 'return air temp',
  'sat dat satemp datemp': 'discharge air temp',
  'znt rmt zonetemp roomtemp': 'zone air temp',
  air: 'air',
  'wx weather': 'weather air',
  // what is measured
  't temp tmp temperature tempr': 'temp',
  'p press pressure pres': 'pressure',
  'static stat': 'pressure|run',
  dsp: 'discharge air pressure',
  'dp diff differential delta difpress diffpress': 'pressure delta',
  'h hum humidity rh humid': 'humidity',
  'flow flo airflow cfm vol volume gpm': 'flow',
  'co2 carbondioxide': 'co2 air zone',
  'kw power demand': 'elec power',
  'kwh energy consumption': 'elec energy',
  'wb wetbulb': 'wetBulb temp',
  'dewpoint dewpt': 'dewPoint temp',
  'occ occupied occupancy occupy sched schedule': 'occupied',
  // what it is to the loop
  'sp spt stpt setpt setpoint stp': 'sp',
  'c cmd command ss startstop start en ena enable req': 'cmd',
  'o out output signal sig ctl control mod': 'cmd',
  's sts status proof run running': 'run sensor',
  'fb fbk feedback pos position': 'sensor position',
  'act actual eff effective': '',
  'min minimum minpos': 'min',
  'max maximum': 'max',
  'spd speed vfd freq drive': 'speed',
  // parts
  fan: 'fan',
  'sf saf supfan supplyfan': 'discharge fan',
  'rf raf retfan returnfan': 'return fan',
  'ef exhfan': 'exhaust fan',
  'dpr dmpr damper dmp damp': 'damper',
  oad: 'outside air damper',
  rad: 'return air damper',
  ead: 'exhaust air damper',
  'v vlv valve vv': 'valve',
  'clg cool cooling clgv cc ccoil': 'cool',
  'htg heat heating hc hcoil': 'heat',
  'reheat rht rhv reht': 'reheat',
  'ph preheat prht': 'preheat',
  'ccv chwv clgvlv': 'cool valve',
  'hcv hwv htgvlv': 'heat valve',
  coil: 'coil',
  'filter flt filt': 'filter air',
  'bldg building': 'building air',
  'duct dct': 'duct',
  'pmp pump': 'pump',
  'chlr chiller': 'chiller',
  'blr boiler': 'boiler',
  'comp compressor': 'compressor',
  'refrig refr refrigerant': 'refrig',
  'evap evaporator': 'evaporator',
  'cond condenser': 'condenser',
  defrost: 'defrost',
  'aux auxiliary': 'auxiliary',
  mode: 'mode',
  'stage stg': 'stage',
  reset: 'reset',
  'requests request reqs': 'requests',
  'bypass byp': 'bypass',
  'hrw wheel heatwheel energywheel hru recovery': 'heatRecovery',
  // what is no part of the loop, whatever else the name says
  'alarm alm fault trip fail failure smoke freeze leak offset bias adjust adj limit override': 'other',
  // a set point of other hours is not the one that is in force
  'unocc unoccupied standby stby night setback': 'other',
  // what a box is fed with, told from what it gives
  'primary pri prim inlet': 'primary',
  'ahu rtu': 'airHandler',
  'vav fpb': 'box',
  // water
  'chw chilled': 'chilled water',
  'chws chwst': 'chilled water leaving temp',
  'chwr chwrt': 'chilled water entering temp',
  'cw cnd cds tw': 'condenser water',
  'cws cwst': 'condenser water entering temp',
  'cwr cwrt': 'condenser water leaving temp',
  'hw hhw hot hotwater': 'hot water',
  'hws hwst hhws hhwst': 'hot water leaving temp',
  'hwr hwrt hhwr hhwrt': 'hot water entering temp',
  'water wtr': 'water',
  'entering ent ewt enter': 'entering',
  'leaving leave lwt': 'leaving',
  lat: 'leaving air temp',
  eat: 'entering air temp',
}

const WORDS = new Map(
  Object.entries(MEANINGS).flatMap(([words, tags]) =>
    words.split(' ').map(word => [word, tags.split(' ').filter(Boolean)] as const),
  ),
)
/** Shorter ones stand for something only where they are a word by themselves or end one: `ZN-T`, `znt`. */
const INNER_MIN = 2
const LONGEST = Math.max(...[...WORDS.keys()].map(({ length }) => length))

/** `P-1`, `S-7`, `CH2`: which one it is, and no word. */
const NUMBERED = /(?<![A-Za-z])[A-Za-z]{1,2}[-_ ]?\d+/g

export type Reading = { tags: string[]; unread: string[] }

/** @returns the tags that a name stands for, and the parts of it that are no word that is known */
export function readName(name: string): Reading {
  const parts = name
    .replace(/kW(h?)/g, ' kw$1 ')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .replace(/co2/gi, ' carbondioxide ')
    .replace(NUMBERED, ' ')
    .split(/[^A-Za-z]+/)
    .map(part => part.toLowerCase())
    .filter(Boolean)
  const tags: string[] = []
  const unread: string[] = []
  for (const part of joined(parts)) {
    const found = WORDS.get(part) ?? split(part)
    if (found) tags.push(...found)
    else unread.push(part)
  }
  return { tags: [...new Set(tags)], unread }
}

/** `set point` and `wet bulb` are one word each. */
function joined(parts: string[]): string[] {
  const made: string[] = []
  for (let i = 0; i < parts.length; i++) {
    const both = parts[i]! + (parts[i + 1] ?? '')
    const whole = parts[i + 1] !== undefined && parts[i]!.length > 1 && parts[i + 1]!.length > 1 && WORDS.has(both)
    made.push(whole ? both : parts[i]!)
    if (whole) i++
  }
  return made
}

/** A word that is several without a mark between, as `supflosp`: the fewest words that cover all of it. */
function split(part: string): string[] | undefined {
  const best: (string[] | undefined)[] = [[]]
  for (let end = 1; end <= part.length; end++) {
    for (let from = Math.max(0, end - LONGEST); from < end; from++) {
      const word = part.slice(from, end)
      const before = best[from]
      const fits = word.length >= INNER_MIN || (end === part.length && from > 0)
      if (!before || !fits || !WORDS.has(word)) continue
      if (!best[end] || before.length + 1 < best[end]!.length) best[end] = [...before, word]
    }
  }
  return best[part.length]?.flatMap(word => WORDS.get(word)!)
}
