/** Types of the parts of node-bacnet that encode requests. The package has no types. */
type CodecBuffer = { buffer: Buffer; offset: number }

declare module 'node-bacnet/lib/npdu.js' {
  type Destination = { net: number; adr: number[] }
  const npdu: { encode(buffer: CodecBuffer, control: number, destination: Destination | undefined): void }
  export default npdu
}

declare module 'node-bacnet/lib/apdu.js' {
  const apdu: {
    encodeConfirmedServiceRequest(
      buffer: CodecBuffer,
      type: number,
      service: number,
      maxSegments: number,
      maxApdu: number,
      invokeId: number,
    ): void
    encodeUnconfirmedServiceRequest(buffer: CodecBuffer, type: number, service: number): void
  }
  export default apdu
}

declare module 'node-bacnet/lib/bvlc.js' {
  const bvlc: { encode(buffer: Buffer, func: number, length: number): number }
  export default bvlc
}

declare module 'node-bacnet/lib/services/read-property.js' {
  const readProperty: {
    encode(buffer: CodecBuffer, type: number, instance: number, property: number, index: number): void
  }
  export default readProperty
}

declare module 'node-bacnet/lib/services/read-property-multiple.js' {
  type Specification = {
    objectId: { type: number; instance: number }
    properties: { id: number; index: number }[]
  }
  const readPropertyMultiple: { encode(buffer: CodecBuffer, specifications: Specification[]): void }
  export default readPropertyMultiple
}

declare module 'node-bacnet/lib/services/subscribe-cov.js' {
  const subscribeCov: {
    encode(
      buffer: CodecBuffer,
      processId: number,
      object: { type: number; instance: number },
      isCancellation: boolean,
      isConfirmed: boolean,
      lifetimeSecs: number,
    ): void
  }
  export default subscribeCov
}

declare module 'node-bacnet/lib/services/who-is.js' {
  const whoIs: { encode(buffer: CodecBuffer, low: number, high: number): void }
  export default whoIs
}
