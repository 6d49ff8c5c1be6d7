#if canImport(SwiftUI)
  import SwiftUI

  /// An error, small and red (D1.5); nothing where there is none.
  struct MessageView: View {
    let text: String?

    var body: some View {
      text.map { Text($0).font(.footnote).foregroundStyle(.red).fixedSize(horizontal: false, vertical: true) }
    }
  }
#endif
