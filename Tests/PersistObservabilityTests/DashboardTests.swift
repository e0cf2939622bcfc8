import Foundation
import PersistTestSupport
import Testing

@Suite("The dashboard of the article about servers")
struct DashboardTests {
  @Test("Every query asks for metrics and dimensions that the product documents")
  func names() throws {
    let sources = PackageFolder.url.appendingPathComponent("Sources")
    let article = try String(
      contentsOf: sources.appendingPathComponent("Persist/Persist.docc/OnServers.md"), encoding: .utf8)
    let page = try String(
      contentsOf: sources.appendingPathComponent("PersistObservability/PersistObservability.docc/PersistObservability.md"),
      encoding: .utf8)
    let documented = Set(page.matches(of: /`([a-z_.]+)`/).map { String($0.1).replacing(".", with: "_") })
    let queries = article.split(separator: "\n### ").filter { $0.hasPrefix("A dashboard") }.joined()
    let words = Set(queries.matches(of: /\b(?:db|persist)_[a-z_]+/).map { String($0.0) })
    #expect(words.count > 10)
    let suffixes = ["", "_total", "_bucket", "_count", "_sum", "_seconds_bucket", "_seconds_count", "_seconds_sum"]
    for word in words {
      #expect(suffixes.contains { word.hasSuffix($0) && documented.contains(String(word.dropLast($0.count))) }, "\(word)")
    }
  }
}
