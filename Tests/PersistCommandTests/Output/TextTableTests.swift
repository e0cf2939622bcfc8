import Testing

@testable import PersistCommand

@Suite("Tables of text")
struct TextTableTests {
  private var table: TextTable {
    var table = TextTable(header: ["version", "identifiers", "locked", "from"])
    table.add("Shop", "1", "", "")
    table.add("Shop 2", "2", "", "Shop")
    return table
  }

  @Test("Columns without any text are omitted, and no line ends with spaces")
  func columns() {
    let text = """
        version  identifiers  from
        Shop     1
        Shop 2   2            Shop
      """
    #expect(table.text(indent: "  ") == text)
    for width in [nil, 28, 80] { #expect(table.text(indent: "  ", fitting: width) == text) }
  }

  @Test("A table that is too wide has a paragraph for each row")
  func paragraphs() {
    #expect(
      table.text(indent: "  ", fitting: 27) == """
          Shop
            identifiers  1
          Shop 2
            identifiers  2
            from         Shop
        """)
  }
}
