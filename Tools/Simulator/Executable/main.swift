#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

Escapes.watch()
exit(SimulateProgram.run())
