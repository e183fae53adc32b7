/** Groups the files of a package by equipment. */

export type EquipmentFolder = {
  /** Path within the package, without the top folder; empty for the root. */
  folder: string
  /** Name to use when the map states none. */
  name: string
  columnMap: string | undefined
  /** `columns.csv`, which is no table. */
  columnList: string | undefined
  /** `quality.json` of the folder; folders without one use that of the root. */
  quality: string | undefined
  tables: string[]
}
type Layout = { manifest: string | undefined; folders: EquipmentFolder[]; ignored: string[] }

/** Names of the column map; the first one in a folder applies. */
const MAP_NAMES = ['column_map.json', 'history_wide.column_map.json', 'history_wide.json']

/** Names of tables: with commas, with tabs, and as some building systems export either. */
export const TABLE_NAME = /\.(?:csv|tsv|tab|txt)$/i
/** A text beside tables is a note to the reader. */
const TEXT_NAME = /\.txt$/i

/** Files that archivers and file managers add. */
const DEBRIS = /(^|\/)(__MACOSX|\.DS_Store|Thumbs\.db|desktop\.ini)(\/|$)|(^|\/)\._/

/** @param paths paths of all files, with `/` between folders. The package is at their root or in one top folder. */
export function groupPackageFiles(paths: string[]): Layout {
  const files = paths.filter(path => !DEBRIS.test(path)).toSorted()
  const tops = new Set(files.map(path => (path.includes('/') ? path.slice(0, path.indexOf('/') + 1) : '')))
  const [only = ''] = tops.size === 1 ? tops : []
  const inTop = only !== '' && files.includes(`${only}manifest.json`) ? only : ''
  const manifest = files.find(path => path === `${inTop}manifest.json`)
  const hasTables = files.some(path => TABLE_NAME.test(path) && !TEXT_NAME.test(path))
  const folders = new Map<string, EquipmentFolder>()
  const ignored: string[] = []
  for (const path of files) {
    const cut = path.lastIndexOf('/') + 1
    const [folder, file] = [path.slice(inTop.length, Math.max(inTop.length, cut - 1)), path.slice(cut)]
    const isMap = MAP_NAMES.includes(file)
    const isList = file.toLowerCase() === 'columns.csv'
    const isQuality = file === 'quality.json'
    if (path === manifest) continue
    const isTable = TABLE_NAME.test(file) && !(hasTables && TEXT_NAME.test(file))
    if (!isMap && !isQuality && !isTable) {
      ignored.push(path)
      continue
    }
    const name = folder.slice(folder.lastIndexOf('/') + 1)
    const here = folders.get(folder) ?? {
      folder,
      name,
      columnMap: undefined,
      columnList: undefined,
      quality: undefined,
      tables: [],
    }
    if (isMap) folders.set(folder, { ...here, columnMap: here.columnMap ?? path })
    else if (isQuality) folders.set(folder, { ...here, quality: path })
    else if (isList) folders.set(folder, { ...here, columnList: path })
    else folders.set(folder, { ...here, tables: [...here.tables, path] })
  }
  return { manifest, folders: [...folders.values()], ignored }
}
