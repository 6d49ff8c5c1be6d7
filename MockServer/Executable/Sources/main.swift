import Groundwork

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

StandardStreams.open()
exit(MockServerProgram.run())
