import TerminalRecording

#if canImport(Glibc)
  import Glibc
#endif

// Draws the terminal's pictures of the documentation: the built chirp on a terminal, against a mock server behind a socket, and what is
// seen written down as SVG. `terminal-pictures CHIRP FOLDER`
#if canImport(Glibc)
  let arguments = CommandLine.arguments
  guard arguments.count == 3 else {
    print("usage: terminal-pictures CHIRP FOLDER")
    exit(2)
  }
  if let obstacle = PseudoTerminal.obstacle {
    print("No pictures: \(obstacle)")
    exit(1)
  }
  do {
    try await PictureSession(chirp: arguments[1], folder: arguments[2]).run()
  } catch {
    print("\(error)")
    exit(1)
  }
#endif
