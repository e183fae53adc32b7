/** Hands over to one benchmark. Each prints, as its last line, one JSON object with `bench, ours, peer, peer_name, ratio, unit`. */

const BENCHES: Record<string, string> = {
  fdd: './bench-fdd.ts',
  'fdd-building': './bench-fdd-building.ts',
  'fdd-incremental': './bench-fdd-incremental.ts',
  footprint: './footprint.ts',
  journal: './bench-journal.ts',
  modbus: './bench-modbus.ts',
  poll: './bench-poll.ts',
  'rules-api': './bench-rules-api.ts',
}

const [name = ''] = process.argv.splice(2, 1)
const module = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined
if (module) await import(module)
else {
  process.stderr.write(`usage: scripts/bench NAME [--json], where NAME is one of: ${Object.keys(BENCHES).join(', ')}\n`)
  process.exitCode = 2
}
