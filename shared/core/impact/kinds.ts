/** The kinds of impact that a rule can name under `impact`; `energy.ts` has one formula for each. */

export const CARRIERS = ['electricity', 'fuel'] as const
export type Carrier = (typeof CARRIERS)[number]

/**
 * Units of a rule's `waste`: kelvin of supply air (or of a room, for comfort), a share of what the machine takes or
 * delivers, or kilowatts.
 */
const MEASURES = ['kelvin', 'share', 'kilowatt'] as const
export type Measure = (typeof MEASURES)[number]

/** A kind of impact: the measures that `waste` may have, its default, and the energy carriers. */
type ImpactKindSpec = {
  measures: readonly Measure[]
  /** A rule that names only the kind wastes all of what the machine takes. */
  whole?: true
  /** Waste below zero costs the other carrier. */
  signed?: true
  carriers: readonly Carrier[]
  words: string
}

const IMPACT_KIND_SPECS = {
  /** Heat removed from the air without need. */
  cooling: { measures: ['kelvin', 'share'], carriers: ['electricity'], words: 'excess cooling' },
  /** Heat added to the air without need. */
  heating: { measures: ['kelvin', 'share'], carriers: ['fuel'], words: 'excess heating' },
  /** The same heat added and removed. */
  simultaneous: {
    measures: ['kelvin', 'share'],
    carriers: ['electricity', 'fuel'],
    words: 'heating and cooling at the same time',
  },
  /** Air that is warmer or colder than necessary: above zero it is cooled again, below zero it is heated. */
  outdoor_air: { measures: ['kelvin'], signed: true, carriers: ['electricity', 'fuel'], words: 'outdoor air beyond need' },
  /** A coil that should be off: above zero it heats without need, below zero it cools without need. */
  leak: { measures: ['kelvin'], signed: true, carriers: ['electricity', 'fuel'], words: 'a coil that should rest' },
  fan: { measures: ['share'], whole: true, carriers: ['electricity'], words: 'fan energy' },
  pump: { measures: ['share'], whole: true, carriers: ['electricity'], words: 'pump energy' },
  chiller: { measures: ['share'], whole: true, carriers: ['electricity'], words: 'chiller energy' },
  boiler: { measures: ['share'], whole: true, carriers: ['fuel'], words: 'boiler energy' },
  electricity: { measures: ['kilowatt'], carriers: ['electricity'], words: 'electricity' },
  /** Degree-hours beyond the set points; no energy, and no money. */
  comfort: { measures: ['kelvin'], carriers: [], words: 'comfort' },
  /** The impact cannot be estimated. */
  none: { measures: [], carriers: [], words: 'none' },
} as const satisfies Record<string, ImpactKindSpec>

export type ImpactKind = keyof typeof IMPACT_KIND_SPECS
export const IMPACT_KINDS = Object.keys(IMPACT_KIND_SPECS) as ImpactKind[]
export const impactKindSpec = (kind: ImpactKind): ImpactKindSpec => IMPACT_KIND_SPECS[kind]
