import CheckedYAML
import Testing

@Suite("Reading YAML")
struct YAMLReaderTests {
  private func fault(_ text: String) -> String {
    do throws(Diagnostic) {
      _ = try YAMLReader.read(text, file: "f.yaml")
      return "no fault"
    } catch { return error.description }
  }

  @Test("keeps order, places and the difference between plain and quoted")
  func nodes() throws {
    let root = try YAMLReader.read("b: 1\na:\n  - x\n  - \"503\"\n", file: "f.yaml")
    #expect(root.entries.map(\.key) == ["b", "a"])
    #expect(root["a"]?.mark == Mark(line: 3, column: 3))
    #expect(root["b"]?.plainText == "1")
    let quoted = try #require(root["a"]?.elements.last)
    #expect(quoted.text == "503" && quoted.plainText == nil)
    #expect(quoted.mark == Mark(line: 4, column: 5))
  }

  @Test(
    "refuses what makes a file hard to trust, with its place",
    arguments: [
      ("a: &x 1\n", "f.yaml:1:4: anchors"), ("a: *x\n", "f.yaml:1:4: aliases"),
      ("a:\n  <<: {b: 1}\n", "f.yaml:2:3: merge keys"), ("a: !!str 1\n", "f.yaml:1:4: tags"),
      ("a: 1\n---\nb: 2\n", "f.yaml:2:1: a second document"),
      ("a: 1\nb: 2\na: 3\n", "f.yaml:3:1: \"a\" stands here a second time; the first is in line 1"),
      ("%YAML 1.1\n---\na: 1\n", "f.yaml:1:1: directives"), ("a:\n\t- b\n", "f.yaml:2:1: a tab"),
      ("a:\n  b: 1\n\tc: 2\n", "f.yaml:3:1: a tab"), ("[a]: 1\n", "f.yaml:1:1: a key has to be"),
      ("", "f.yaml:1:1: the file is empty"), ("# nothing\n", "f.yaml:2:1: the file is empty"),
      ("a: [1, 2\n", "f.yaml:2:1: this is not YAML"), ("a: \"x\n", "f.yaml:2:1: this is not YAML"),
      ("a: b: c\n", "f.yaml:1:5: this is not YAML"), ("ok: 1\nbad: \u{0}\n", "f.yaml:2:6: control characters"),
    ])
  func refusals(text: String, message: String) {
    #expect(fault(text).hasPrefix(message), "\(fault(text))")
  }

  @Test("a colon in a sentence gets the advice to quote it, other mistakes do not")
  func unquotedColon() {
    #expect(fault("name: a: b\n").hasSuffix("; put quotes around a value with \": \" in it"))
    #expect(!fault("a: [1, 2\n").contains("quotes"))
    #expect(fault("name: \"a: b\"\n") == "no fault")
  }

  @Test("bytes that are no UTF-8 have a place too")
  func encoding() {
    #expect(fault("a: 1\nb: 2").hasPrefix("no fault"))
    let broken = String(decoding: [0x61, 0x3A, 0x20, 0xFF, 0x0A], as: UTF8.self)
    // Decoding has replaced the byte: what is left is text.
    #expect(fault(broken) == "no fault")
  }

  @Test("64 levels are taken, 65 are not")
  func depth() {
    func nested(_ levels: Int) -> String {
      String(repeating: "[", count: levels - 1) + "x" + String(repeating: "]", count: levels - 1)
    }
    #expect(fault(nested(64)) == "no fault")
    #expect(fault(nested(65)) == "f.yaml:1:65: more than 64 levels deep")
    #expect(fault(nested(50_000)).contains("more than 64 levels deep"))
  }

  @Test("100,000 values are taken, more are not")
  func size() {
    let list = { (count: Int) in "[" + String(repeating: "x,", count: count) + "]" }
    #expect(fault(list(99_999)) == "no fault")
    #expect(fault(list(100_000)).contains("more than 100000 values"))
  }
}
