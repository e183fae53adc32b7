/** Completes the tags of a name by its equipment, unit and object. */
import type { EquipmentType, PointKind } from '#shared/core/model/model.ts'

type Context = {
  type: EquipmentType | undefined
  kind: PointKind
  /** The tag of the quantity that the unit measures. */
  quantity: string | undefined
  /** Direction of a BACnet object, where its type shows it. */
  object: 'input' | 'output' | undefined
  /** Whether the equipment has its own zone temperature. */
  isZoned: boolean
}

/** Equipment whose name need not be repeated for its run status: `P-1 Status`. */
const MACHINES: readonly EquipmentType[] = ['pump', 'boiler', 'chiller']
/** Equipment that conditions one room, so that its set points are those of the room. */
const SINGLE_ZONE: readonly (EquipmentType | undefined)[] = ['rtu', 'heat_pump', 'fcu']
/** Equipment that cools with its own compressor. */
const PACKAGED: readonly (EquipmentType | undefined)[] = ['rtu', 'heat_pump']
const TERMINAL: readonly (EquipmentType | undefined)[] = ['vav', 'zone']
const AIR_SIDE: readonly (EquipmentType | undefined)[] = ['ahu', 'rtu', 'heat_pump', 'fcu', ...TERMINAL]
const PLANTS: readonly (EquipmentType | undefined)[] = ['chw_plant', 'hw_plant', 'pump']
/** The water of a plant, whose name need not be repeated: `Vorlauf`, `Leaving Water Temp`. */
const OWN_WATER: Partial<Record<EquipmentType, string>> = {
  chw_plant: 'chilled',
  chiller: 'chilled',
  hw_plant: 'hot',
  boiler: 'hot',
}
const WATERS = ['chilled', 'hot', 'condenser']
/** Parts of an air stream named after the air in them and not after its destination. */
const IN_DUCT = ['cool', 'heat', 'reheat', 'preheat', 'heatRecovery', 'hotDeck', 'return', 'outside', 'mixed', 'zone', 'water']

/** Tags of what a signal drives, and which may report where it stands. */
export const DRIVEN = ['damper', 'valve', 'speed']

/** Adds the tags that a name omits. */
export function complete(tags: Set<string>, context: Context): void {
  signals(tags, context)
  addImplied(tags, context)
  const { type } = context
  const fed = tags.delete('primary')
  const [handler, box] = [tags.delete('airHandler'), tags.delete('box')]
  // Air that enters a box belongs to the air handler, also where the box measures or repeats it.
  if (TERMINAL.includes(type) && tags.has('temp') && (fed || (handler && !box && tags.has('discharge')))) tags.add('other')
  if (AIR_SIDE.includes(type) && tags.has('water') && tags.has('temp')) coilWater(tags)
  if (AIR_SIDE.includes(type)) coils(tags, context)
  if (TERMINAL.includes(type)) terminal(tags)
  if (type !== undefined && !TERMINAL.includes(type)) handlerAir(tags)
  machines(tags, context)
  if (type === 'weather' && tags.delete('outside')) tags.add('weather')
  if (tags.has('occupied')) for (const tag of ['mode', 'cmd', 'run', 'sensor']) tags.delete(tag)
  if (tags.has('water') || WATERS.some(tag => tags.has(tag))) watery(tags)
  for (const tag of ['duct', 'rh', 'analog', 'binary']) tags.delete(tag)
}

/** Words with two meanings, distinguished by the other tags. */
function signals(tags: Set<string>, { type, kind, quantity, object }: Context): void {
  // The minimum position of an air handler is that of its outdoor air damper.
  const isHandler = AIR_SIDE.includes(type) && !TERMINAL.includes(type)
  if (isHandler && tags.has('min') && tags.has('position') && !tags.has('valve')) tags.add('outside').add('air').add('damper')
  // A humidity is never an output: `RH-O` is the reheat coil.
  if (tags.has('rh') && kind === 'number' && quantity === undefined && (tags.has('cmd') || object === 'output')) {
    tags.delete('humidity')
    tags.add('reheat').add('valve')
  }
  if (tags.has('rh') && tags.has('valve')) tags.add('reheat').delete('humidity')
  if (tags.delete('demand')) for (const tag of isSignal(tags, quantity) ? ['cmd'] : ['elec', 'power']) tags.add(tag)
  // Mixing dampers are named by the air that they make or by both that they mix, and follow the outdoor-air damper.
  if (tags.has('damper') && (tags.has('mixed') || (tags.has('outside') && tags.has('return')))) {
    for (const tag of ['mixed', 'return']) tags.delete(tag)
    tags.add('outside').add('air')
  }
  if (tags.has('economizer') && (tags.has('damper') || (kind === 'number' && (tags.has('analog') || tags.has('position'))))) {
    tags.delete('economizer')
    tags.add('outside').add('air').add('damper')
  }
}

/** `Valve Demand` and `Heating Demand` are signals, a demand alone is the power of a meter. */
const isSignal = (tags: ReadonlySet<string>, quantity: string | undefined): boolean =>
  quantity !== 'power' && [...DRIVEN, 'cool', 'heat', 'reheat', 'preheat'].some(tag => tags.has(tag))

/** Adds the implied function: a temperature is measured, a valve is commanded. */
function addImplied(tags: Set<string>, { kind, quantity, object }: Context): void {
  if (object === 'input' && !tags.has('sp')) tags.add('sensor').delete('cmd')
  if (object === 'output') tags.add('cmd')
  if (kind === 'number' && quantity === undefined && !tags.has('sp') && !tags.has('sensor')) tags.add('cmd')
  if (quantity !== undefined && !tags.has('sp') && !tags.has('cmd')) tags.add('sensor')
  if (kind === 'number' && quantity === undefined && !tags.has('sensor')) tags.delete('run')
  if (kind === 'number' && tags.has('cmd') && (tags.has('fan') || tags.has('pump'))) tags.add('speed')
  // A fan that is proved by its flow is on or off.
  if (kind !== 'number' && tags.has('fan')) tags.delete('flow')
  if (kind !== 'number' && !tags.has('occupied') && !tags.has('mode')) tags.add('run')
  if (tags.has('min') || tags.has('max')) tags.add('sp')
  if (tags.has('sp')) for (const tag of ['cmd', 'sensor', 'run', 'position']) tags.delete(tag)
}

/** The water of a coil is not its air, whichever way it flows. */
function coilWater(tags: Set<string>): void {
  for (const tag of ['discharge', 'return', 'leaving', 'entering']) tags.delete(tag)
  tags.add('other')
}

/** Coils of air equipment: the water in their valves, their stages, and the set points of their room. */
function coils(tags: Set<string>, { type, kind, isZoned }: Context): void {
  const isHydronic = tags.has('valve') || (tags.has('cmd') && !tags.has('pump'))
  // `CW` of a coil is cold water.
  if (isHydronic && (tags.has('chilled') || tags.delete('condenser'))) tags.add('cool')
  if (isHydronic && tags.has('hot')) tags.add(TERMINAL.includes(type) ? 'reheat' : 'heat')
  if (isHydronic) for (const tag of ['chilled', 'hot', 'water']) tags.delete(tag)
  const [cools, heats] = [tags.has('cool'), tags.has('heat')]
  // A set point without another word is that of the room.
  if (SINGLE_ZONE.includes(type) && tags.size === 2 && tags.has('sp') && tags.has('temp')) tags.add('zone').add('air')
  if (!cools && !heats && !tags.has('preheat') && !tags.has('compressor')) return
  if (kind !== 'number' && tags.has('run')) {
    tags.delete('stage')
    if (cools && PACKAGED.includes(type) && !tags.has('valve')) tags.add('compressor').delete('cool')
    return
  }
  if (TERMINAL.includes(type) && heats && (tags.has('valve') || tags.has('cmd')) && !tags.has('temp')) {
    tags.delete('heat')
    tags.add('reheat')
  }
  if (!tags.has('temp') && !tags.has('flow') && tags.has('cmd')) tags.add('valve')
  const isRooms = tags.has('sp') && tags.has('temp') && !tags.has('discharge') && !tags.has('water')
  if (isRooms && (SINGLE_ZONE.includes(type) || isZoned)) tags.add('zone').add('air')
}

/** A box heats with its reheat coil, and its air is that of the zone. */
function terminal(tags: Set<string>): void {
  if (tags.has('flow') || tags.has('damper')) tags.add('discharge').delete('zone')
  if (tags.has('temp') && !tags.has('discharge')) tags.add('zone').add('air')
  if (tags.has('flow')) tags.add('air')
  if (tags.has('fan')) tags.add('discharge')
}

function handlerAir(tags: Set<string>): void {
  if (tags.has('fan') && !tags.has('return') && !tags.has('exhaust')) tags.add('discharge').delete('air')
  if (tags.has('fan')) tags.delete('air')
  const ofWater = tags.has('water') || WATERS.some(tag => tags.has(tag))
  if (tags.has('pressure') && !tags.has('delta') && !tags.has('building') && !ofWater) tags.add('discharge').add('air')
  if (tags.has('leaving') && tags.has('air') && !ofWater && !IN_DUCT.some(tag => tags.has(tag))) {
    tags.delete('leaving')
    tags.add('discharge')
  }
}

/** The pump of a plant moves the water of the plant, and its fan is that of the cooling tower. */
function machines(tags: Set<string>, { type }: Context): void {
  const own = type && OWN_WATER[type]
  if (own && (tags.has('water') || isWaterTemp(tags)) && !WATERS.some(tag => tags.has(tag))) tags.add(own)
  if (tags.has('pressure') && tags.has('delta') && !WATERS.some(tag => tags.has(tag))) {
    if (type === 'chw_plant') tags.add('chilled')
    if (type === 'hw_plant') tags.add('hot')
  }
  if (type === 'fcu' && tags.has('speed')) tags.add('discharge').add('fan')
  if (type !== undefined && MACHINES.includes(type) && tags.has('run')) tags.add(type)
  if (tags.has('pump') && PLANTS.includes(type) && !tags.has('flow') && !tags.has('pressure')) {
    for (const tag of ['chilled', 'hot', 'cool', 'heat']) tags.delete(tag)
    if (!tags.has('condenser')) tags.delete('water')
  }
  if (tags.has('tower') && (tags.has('fan') || tags.has('speed'))) {
    tags.delete('tower')
    tags.add('discharge').add('fan')
  }
}

/** A temperature of a plant that flows out or comes back is that of its water. */
const isWaterTemp = (tags: ReadonlySet<string>): boolean =>
  tags.has('temp') && !tags.has('air') && ['flow', 'discharge', 'return'].some(tag => tags.has(tag))

/** Supply and return of water are named from the machine: a condenser is supplied with the water that enters it. */
function watery(tags: Set<string>): void {
  // British `LTHW Flow Temp`: the water that flows out.
  if (tags.has('temp') && tags.delete('flow')) tags.add('discharge')
  const [supply, back] = tags.has('condenser') ? ['entering', 'leaving'] : ['leaving', 'entering']
  if (tags.delete('discharge')) tags.add(supply!)
  if (tags.delete('return')) tags.add(back!)
  tags.delete('air')
  tags.add('water')
}
