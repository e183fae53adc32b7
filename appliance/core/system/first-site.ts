/** What a new box is until somebody says what it is. */

/** Site of a box that belongs to none yet. */
export const FIRST_SITE = 'local'

/** A box that serves no building yet has an empty one, so that its pages and discovery work. */
export const FIRST_BUILDING = {
  building_id: 'building-1',
  name: 'New building',
  timezone: 'Etc/UTC',
  unit_system: 'si',
} as const

/** @returns content of `site.json` for a box that serves no building yet */
export const newSite = (edge_id: string) => ({ site_id: FIRST_SITE, edge_id, building: FIRST_BUILDING, equipment: [] })
