import Testing

@testable import PersistInspection

@Suite("Comma-separated values")
struct CSVTextTests {
  @Test("Quotation marks are doubled, whatever follows them", arguments: ["", "\u{301}", "\u{FE0F}", "\u{200D}"])
  func marks(follower: String) {
    let line = CSVText.line(["a\"\(follower)b", "c"])
    #expect(Array(line.utf8) == Array("\"a\"\"\(follower)b\",c\n".utf8))
  }
}
