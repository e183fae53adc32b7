import { lookup as systemLookup, type LookupAddress, Resolver } from 'node:dns'

type LookupCallback = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void

/** @param server address of a name server, or `auto` for that of the system */
export function lookupThrough(server: string) {
  if (server === 'auto') return systemLookup
  const resolver = new Resolver({ timeout: 2000, tries: 2 })
  resolver.setServers([server])
  return (name: string, options: { all?: boolean }, done: LookupCallback) => {
    resolver.resolve4(name, (error, addresses) => {
      if (error) return done(error, '')
      const found = addresses.map(address => ({ address, family: 4 }))
      return options.all ? done(null, found) : done(null, found[0]!.address, 4)
    })
  }
}
