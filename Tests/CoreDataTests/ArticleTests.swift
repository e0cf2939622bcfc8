import Foundation
import PersistTestSupport
import Testing

/// The article about bringing a code base, beside the module that it describes.
@Suite("The article about Core Data code bases")
struct ArticleTests {
  private let article: String
  private let interface: String

  init() throws {
    func text(_ path: String) throws -> String {
      try String(contentsOf: PackageFolder.url.appendingPathComponent(path), encoding: .utf8)
    }
    article = try text("Sources/Persist/Persist.docc/BringingACoreDataCodeBase.md")
    interface = try text("Interfaces/CoreData.txt")
  }

  /// The names with Core Data's prefix in the rows of a section's table.
  private func names(inTableOf section: String, column: Int) throws -> Set<String> {
    let start = try #require(article.range(of: "## \(section)\n"))
    let rest = article[start.upperBound...]
    let table = rest.range(of: "\n## ").map { rest[..<$0.lowerBound] } ?? rest
    var names: Set<String> = []
    for row in table.split(separator: "\n") where row.hasPrefix("| ") {
      let cells = row.split(separator: "|")
      guard cells.indices.contains(column) else { continue }
      for match in cells[column].matches(of: /`(NS\w+)/) { names.insert(String(match.output.1)) }
    }
    return names
  }

  /// The names of declared classes, protocols, structures and enumerations.
  private var declared: Set<String> {
    Set(
      interface.split(separator: "\n").compactMap { line in
        line.firstMatch(of: #/^(\w+) \| (class|protocol|struct|enum) /#).map { String($0.output.1) }
      })
  }

  @Test("Types that the article says are covered exist")
  func covered() throws {
    let foundation: Set = ["NSPredicate", "NSCompoundPredicate", "NSSortDescriptor", "NSError"]
    let names = try names(inTableOf: "What is covered", column: 0).subtracting(foundation)
    #expect(names.count > 20)
    #expect(names.subtracting(declared).isEmpty)
  }

  @Test("Types that the article says aren't covered don't exist")
  func uncovered() throws {
    // Creating conflicts and some kinds of expressions aren't covered; the classes are.
    let existing: Set = ["NSMergeConflict", "NSConstraintConflict", "NSExpression"]
    let names = try names(inTableOf: "What isn't covered", column: 0).subtracting(existing)
    #expect(names.intersection(declared).isEmpty)
  }

  @Test("Each of the module's types of Core Data is on its page of documentation")
  func page() throws {
    let page = try String(
      contentsOf: PackageFolder.url.appendingPathComponent("Sources/CoreData/CoreData.docc/CoreData.md"),
      encoding: .utf8)
    let names = declared.filter { $0.hasPrefix("NS") }
    #expect(names.count > 40)
    let missing = names.filter { !page.contains("``\($0)``") && !article.contains("`\($0)") }
    #expect(missing.isEmpty)
  }

  @Test("Each promise of safety has its reason")
  func reasons() throws {
    let folder = PackageFolder.url.appendingPathComponent("Sources/CoreData")
    let walk = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    for case let file as URL in walk?.allObjects ?? [] where file.pathExtension == "swift" {
      let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
      for (index, line) in lines.enumerated() {
        let isPromise = line.contains("@unchecked Sendable") || line.contains("nonisolated(unsafe)")
        guard isPromise, !line.hasPrefix("/") else { continue }
        let above = lines[..<index].reversed().prefix { !$0.isEmpty }
        #expect(
          above.contains { $0.contains("Unchecked:") || $0.contains("Unsafe:") },
          "\(file.lastPathComponent):\(index + 1)")
      }
    }
  }
}
