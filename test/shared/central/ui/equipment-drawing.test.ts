import test from 'ava'
import { equipmentDrawing, DRAWING_NARROW, DRAWING_WIDE } from '#shared/central/ui/equipment-drawing.ts'
import { EQUIPMENT_PARTS } from '#shared/central/ui/equipment-parts.ts'
import type { EquipmentType } from '#shared/core/model/model.ts'

const TYPES = Object.keys(EQUIPMENT_PARTS) as EquipmentType[]
type Box = { left: number; right: number; top: number; bottom: number }

const valuesFor = (type: EquipmentType, has: (nth: number) => boolean) => {
  const roles = [...new Set(EQUIPMENT_PARTS[type].flatMap(part => part.roles))].filter((_, nth) => has(nth))
  return new Map(
    roles.map(role => [role, { role, href: `/points/${role}`, words: '21.5 °C', quiet: false, overridden: false }] as const),
  )
}

/** The box of each value, and the box of the drawing. */
function boxesOf(drawing: string): { values: Box[]; whole: Box } {
  const values = [...drawing.matchAll(/<rect x="([^"]+)" y="([^"]+)" width="([^"]+)" height="([^"]+)" rx="3"/g)].map(numbers => {
    const [left, top, width, height] = numbers.slice(1).map(Number) as [number, number, number, number]
    return { left, right: left + width, top, bottom: top + height }
  })
  const [, right, bottom] = /viewBox="0 0 (\S+) ([^"]+)"/.exec(drawing)!.map(Number)
  return { values, whole: { left: 0, right: right!, top: 0, bottom: bottom! } }
}

const areApart = (a: Box, b: Box) => a.bottom <= b.top || b.bottom <= a.top || a.right <= b.left || b.right <= a.left

for (const [size, dimensions] of [
  ['wide', DRAWING_WIDE],
  ['narrow', DRAWING_NARROW],
] as const)
  test(`${size}: each value is within the drawing, and no value covers another`, t => {
    for (const type of TYPES)
      for (const has of [() => true, (nth: number) => nth % 2 === 0, (nth: number) => nth === 0]) {
        const drawn = valuesFor(type, has)
        const { values, whole } = boxesOf(String(equipmentDrawing(type, drawn, dimensions, 'AHU 1')))
        t.is(whole.right, dimensions.width)
        t.true(values.length >= drawn.size, type)
        for (const value of values) t.true(value.top > 0 && value.bottom < whole.bottom, type)
        for (const [i, one] of values.entries()) for (const other of values.slice(i + 1)) t.true(areApart(one, other), type)
      }
  })

test('a value is named by its role in words within its column, with the code for those who point at it', t => {
  const drawn = String(
    equipmentDrawing(
      'ahu',
      valuesFor('ahu', () => true),
      DRAWING_NARROW,
      'AHU 1',
    ),
  )
  t.regex(drawn, /<title>supply air temperature setpoint 21\.5 °C \(sa_t_sp\)<\/title>/)
  const lines = [...drawn.matchAll(/<text class="role(?: long)?"[^>]*>([^<]+)</g)].map(([, line]) => line!)
  t.true(lines.includes('supply air') && lines.includes('temperature'))
  t.deepEqual(
    lines.filter(line => line.includes('_')),
    [],
  )
  // 5.8: a small letter of 11 px.
  for (const line of lines) t.true(line.length * 5.8 <= 118, line)
})

test('text is as large on a desk as on a phone: a column is as wide, and the drawing fits the page', t => {
  for (const { width, columns } of [DRAWING_WIDE, DRAWING_NARROW])
    t.true(Math.abs(width / columns - 120) < 2, `${width / columns}`)
  t.true(DRAWING_NARROW.width <= 390 && DRAWING_WIDE.width <= 1280, 'of the screens that the pages are drawn for')
})

test('the rows of a drawing fill its width, and have as many parts as each other, or one fewer', t => {
  for (const size of [DRAWING_WIDE, DRAWING_NARROW]) {
    for (const type of TYPES) {
      const drawn = String(
        equipmentDrawing(
          type,
          valuesFor(type, () => true),
          size,
          'AHU 1',
        ),
      )
      const heights = [...drawn.matchAll(/<text class="part" x="[^"]+" y="([^"]+)"/g)].map(([, y]) => y!)
      const drawnTo = Math.max(...[...drawn.matchAll(/class="flow" d="[^"]*H([^"]+)"/g)].map(([, end]) => Number(end)))
      const counts = [...Map.groupBy(heights, y => y).values()].map(some => some.length)
      if (counts.length > 1) t.true(Math.abs(drawnTo - size.width) < 0.01, `${type}: ${drawnTo}`)
      t.true(
        Math.max(...counts) - Math.min(...counts) <= 1 && Math.max(...counts) <= size.columns,
        `${type}: ${counts.join(', ')}`,
      )
    }
  }
})
