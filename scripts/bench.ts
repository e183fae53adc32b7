/** Hands over to one benchmark. Each prints, as its last line, one JSON object with `bench, ours, peer, peer_name, ratio, unit`. */

const BENCHES: Record<string, string> = {
  api: './benchmarks/api.ts',
  append: './benchmarks/append.ts',
  boot: './benchmarks/box-boot.ts',
  fdd: './benchmarks/fdd.ts',
  'fdd-building': './benchmarks/fdd-building.ts',
  'fdd-incremental': './benchmarks/fdd-incremental.ts',
  fleet: './benchmarks/fleet.ts',
  footprint: './benchmarks/footprint.ts',
  import: './benchmarks/import.ts',
  history: './benchmarks/history.ts',
  ingest: './benchmarks/ingest.ts',
  journal: './benchmarks/journal.ts',
  modbus: './benchmarks/modbus.ts',
  pages: './benchmarks/pages.ts',
  poll: './benchmarks/poll.ts',
  'rules-api': './benchmarks/rules-api.ts',
  wear: './benchmarks/wear.ts',
}

const [name = ''] = process.argv.splice(2, 1)
const module = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined
if (module) await import(module)
else {
  process.stderr.write(`usage: scripts/bench NAME [--json], where NAME is one of: ${Object.keys(BENCHES).join(', ')}\n`)
  process.exitCode = 2
}
