/// Why a run stopped: something that must never be.
struct TortureError: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) {
    self.description = description
  }
}
