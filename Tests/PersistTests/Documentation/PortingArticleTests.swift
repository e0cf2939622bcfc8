import Foundation
import PersistTestSupport
import Testing

@Suite("The article on coming from Core Data")
struct PortingArticleTests {
  @Test("A port needs at most 20 kinds of renames, and the article states how many its tables contain")
  func kinds() throws {
    let url = PackageFolder.url.appendingPathComponent("Sources/Persist/Persist.docc/ComingFromCoreData.md")
    let text = try String(contentsOf: url, encoding: .utf8)
    let names = try #require(text.split(separator: "## ").first { $0.hasPrefix("Names\n") })
    let rows = names.split(separator: "\n").filter { $0.hasPrefix("| `") }
    let count = try #require(names.firstMatch(of: /makes the ([0-9]+) kinds/)?.1)
    #expect(Int(count) == rows.count)
    #expect(rows.count <= 20)
  }
}
