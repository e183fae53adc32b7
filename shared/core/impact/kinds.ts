/** What a fault may waste. A rule names one of these under `impact`; each has one way of being reckoned (`energy.ts`). */

export const CARRIERS = ['electricity', 'fuel'] as const
export type Carrier = (typeof CARRIERS)[number]

/**
 * What a rule's `waste` measures: kelvin of supply air (or of a room, for comfort), a share of what the machine takes or
 * gives, or kilowatts themselves.
 */
const MEASURES = ['kelvin', 'share', 'kilowatt'] as const
export type Measure = (typeof MEASURES)[number]

/**
 * By kind: what `waste` may measure, what it is when a rule does not say, and where the energy comes from.
 */
type ImpactKindSpec = {
  measures: readonly Measure[]
  /** Waste of a rule that names the kind alone. */
  whole?: true
  /** Waste below zero costs too, the other carrier. */
  signed?: true
  carriers: readonly Carrier[]
  words: string
}

const IMPACT_KIND_SPECS = {
  /** Heat taken from the air in vain. */
  cooling: { measures: ['kelvin', 'share'], carriers: ['electricity'], words: 'excess cooling' },
  /** Heat given to the air in vain. */
  heating: { measures: ['kelvin', 'share'], carriers: ['fuel'], words: 'excess heating' },
  /** The same heat given and taken. */
  simultaneous: {
    measures: ['kelvin', 'share'],
    carriers: ['electricity', 'fuel'],
    words: 'heating and cooling at the same time',
  },
  /** Air warmer or colder than it need be: above zero it is cooled again, below zero it is heated. */
  outdoor_air: { measures: ['kelvin'], signed: true, carriers: ['electricity', 'fuel'], words: 'outdoor air beyond need' },
  /** A coil that should rest: above zero it heats in vain, below zero it cools in vain. */
  leak: { measures: ['kelvin'], signed: true, carriers: ['electricity', 'fuel'], words: 'a coil that should rest' },
  fan: { measures: ['share'], whole: true, carriers: ['electricity'], words: 'fan energy' },
  pump: { measures: ['share'], whole: true, carriers: ['electricity'], words: 'pump energy' },
  chiller: { measures: ['share'], whole: true, carriers: ['electricity'], words: 'chiller energy' },
  boiler: { measures: ['share'], whole: true, carriers: ['fuel'], words: 'boiler energy' },
  electricity: { measures: ['kilowatt'], carriers: ['electricity'], words: 'electricity' },
  /** Degree-hours beyond the set points; no energy, and no money. */
  comfort: { measures: ['kelvin'], carriers: [], words: 'comfort' },
  /** Nothing that could honestly be said. */
  none: { measures: [], carriers: [], words: 'none' },
} as const satisfies Record<string, ImpactKindSpec>

export type ImpactKind = keyof typeof IMPACT_KIND_SPECS
export const IMPACT_KINDS = Object.keys(IMPACT_KIND_SPECS) as ImpactKind[]
export const impactKindSpec = (kind: ImpactKind): ImpactKindSpec => IMPACT_KIND_SPECS[kind]
