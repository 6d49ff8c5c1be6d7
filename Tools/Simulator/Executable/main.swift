import Groundwork

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

StandardStreams.open()
Escapes.watch()
exit(SimulateProgram.run())
