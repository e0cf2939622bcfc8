import Foundation
import PersistTestSupport
import Testing

/// The article on errors has a row for each error code: the code, its number, its meaning, the response, and whether
/// to repeat the call.
@Suite("The article on errors")
struct ErrorArticleTests {
  private struct Code: Hashable {
    let name: Substring
    let number: Int
  }

  private static let framework = PackageFolder.url.appendingPathComponent("Sources/Persist")

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: framework.appendingPathComponent(path), encoding: .utf8)
  }

  /// The cells of each row that begins with a code.
  private static func rows() throws -> [[Substring]] {
    try text("Persist.docc/Errors.md").split(separator: "\n")
      .filter { $0.hasPrefix("| ``PersistenceError/Code/") }
      .map { row in row.dropFirst(2).dropLast(2).split(separator: " | ", omittingEmptySubsequences: false) }
  }

  @Test("Each error code has one row with its number, and no row has a code that doesn't exist")
  func everyCode() throws {
    let declared = try Self.text("Errors/PersistenceError+Code.swift")
      .matches(of: /static let ([a-zA-Z]+) = Self\(([0-9_]+),/)
      .map { Code(name: $0.1, number: try #require(Int($0.2.replacing("_", with: "")))) }
    let listed = try Self.rows().map { cells in
      let name = try #require(cells[0].firstMatch(of: /^``PersistenceError\/Code\/([a-zA-Z]+)``$/)?.1)
      return Code(name: name, number: try #require(Int(cells[1]), "\(name) has no number."))
    }
    #expect(declared.count > 45)
    for code in Set(declared).subtracting(listed) { Issue.record("\(code.name) (\(code.number)) has no row.") }
    for code in Set(listed).subtracting(declared) { Issue.record("There is no code \(code.name) (\(code.number)).") }
    #expect(Set(listed).count == listed.count)
  }

  @Test("Each row states the meaning, the response, and whether to repeat the call")
  func completeRows() throws {
    for cells in try Self.rows() {
      #expect(cells.count == 5 && !cells.contains(""), "\(cells[0])")
      #expect(["yes", "later", "anew", "no"].contains(cells.last), "\(cells[0])")
    }
  }
}
