#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

// The system's calls, under names that no method of a console or a screen has.

/// `read(2)`
func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
  read(descriptor, buffer, count)
}

/// `write(2)`
func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, buffer, count)
}

/// `open(2)`
func systemOpen(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }

/// `close(2)`
func systemClose(_ descriptor: Int32) { _ = close(descriptor) }
