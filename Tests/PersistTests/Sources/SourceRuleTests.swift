import Foundation
import PersistTestSupport
import Testing

/// Rules of style that a machine can check, over all sources that users build.
@Suite("Source rules")
struct SourceRuleTests {
  private static let sources = PackageFolder.url.appendingPathComponent("Sources")
  private static let files = Result { try SwiftSource.files(in: sources) }

  @Test("SQL text is in Store/SQL, beside the tools that need more, and in the engine of servers, whose SQL is its own")
  func sqlText() throws {
    let statement = try Regex(
      #"^\s*(SELECT\s.*\sFROM\s|SELECT\s+\S+\(|INSERT\s+(OR\s+\w+\s+)?INTO\s|UPDATE\s+\S+\s+SET\s|DELETE\s+FROM\s"#
        + #"|(CREATE|DROP)\s+(TEMP\s+|TEMPORARY\s+|UNIQUE\s+|VIRTUAL\s+)*(TABLE|INDEX|VIEW|TRIGGER)\s|ALTER\s+TABLE\s"#
        + #"|PRAGMA\s+\w|ATTACH\s+|VACUUM\b|(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)(\s+\w+)*;?\s*$)"#)
    try check { source, path in
      let folders = ["Persist/Store/SQL/", "PersistPostgreSQL/", "PersistTools/SQL/"]
      guard !folders.contains(where: path.hasPrefix) else { return [] }
      return try source.tokens
        .filter { try $0.kind == .literal && statement.firstMatch(in: $0.text) != nil }
        .map { ($0.line, "SQL text outside Store/SQL: \($0.text.prefix(40))") }
    }
  }

  @Test("Nothing from outside can trap: no try!, as! or fatalError")
  func noTraps() throws {
    try check { source, _ in
      source.tokens.indices.compactMap { index in
        let token = source.tokens[index]
        guard token.kind == .identifier else { return nil }
        // `try !isDone` is no trap, `try! read()` is.
        let next = index + 1 < source.tokens.count ? source.tokens[index + 1].text : ""
        if ["try", "as"].contains(token.text), next == "!", source.lines[token.line - 1].contains("\(token.text)!") {
          return (token.line, "\(token.text)!")
        }
        return token.text == "fatalError" ? (token.line, "fatalError") : nil
      }
    }
  }

  @Test("Every unchecked promise of safety has a comment that justifies it")
  func uncheckedIsExplained() throws {
    try check { source, _ in
      source.lines.enumerated().compactMap { index, line in
        let code = line.split(separator: "//", maxSplits: 1, omittingEmptySubsequences: false).first ?? line
        guard code.contains("@unchecked Sendable") || code.contains("nonisolated(unsafe)") else { return nil }
        let around = source.lines[max(0, index - 14)...index]
        return around.contains { $0.contains("//") } ? nil : (index + 1, "an unchecked promise without its reason")
      }
    }
  }

  @Test("Files stay under 400 lines, lines within 120 characters, indented by spaces")
  func size() throws {
    try check { source, _ in
      var found = source.lines.enumerated().compactMap { index, line -> (Int, String)? in
        if line.utf8.count > 120, line.count > 120 { return (index + 1, "\(line.count) characters") }
        return line.contains("\t") ? (index + 1, "a tab") : nil
      }
      if source.lines.count > 400 { found.append((400, "\(source.lines.count) lines")) }
      return found
    }
  }

  @Test("Every public declaration of the libraries has a doc comment")
  func publicIsDocumented() throws {
    try check { source, path in
      let libraries = [
        "AppleLogging", "CoreData", "Persist", "PersistDocuments", "PersistLiveQueries", "PersistMacrosless",
        "PersistObservability", "PersistOnlineMigrations", "PersistPostgreSQL", "PersistSQLMigrations",
        "PersistSQLQueries", "PersistSync",
      ]
      guard libraries.contains(where: { path.hasPrefix($0 + "/") }) else { return [] }
      return source.undocumentedDeclarations.map { ($0.line, "no doc comment: \($0.text)") }
    }
  }

  @Test("Public declarations without a doc comment are found, with their lines")
  func undocumentedIsFound() {
    let source = SwiftSource(
      URL(fileURLWithPath: "A.swift"),
      text: """
        public protocol Shape {
          func draw(in box: Box, actor: Actor)
          /// The area.
          var area: Double { get }
        }

        /// Some colors.
        @frozen
        public enum Color: String {
          case red
          /// Green.
          case green
          static let all: [Color] = []
        }

        extension Color {
          @available(
            *, unavailable
          )
          public static func mix(
            _ colors: [Color], by weight: (Color) -> Double = { _ in 1 }
          ) -> Color { fatalError() }
          /// The name.
          @inlinable @discardableResult public func name() -> String {
            let text = rawValue.firstMatch(of: /[(]/)
            return text
          }
          private(set) public var weight = 1
          public override func print() {}
          public func hash(into hasher: inout Hasher) {}
        }

        /// A place.
        #if hasAttribute(nonexhaustive)
          @nonexhaustive(warn)
        #endif
        public enum Place {
          /// Here.
          case here
        }

        #if os(Linux)
          @frozen
        #endif
        public struct Moment {}
        """)
    #expect(source.undocumentedDeclarations.map { $0.line } == [1, 2, 10, 20, 28, 45])
  }

  private func check(_ rule: (SwiftSource, String) throws -> [(line: Int, what: String)]) throws {
    let files = try Self.files.get()
    #expect(files.count > 20)
    for source in files {
      let path = String(source.url.path.dropFirst(Self.sources.path.count + 1))
      for (line, what) in try rule(source, path) { Issue.record("\(path):\(line): \(what)") }
    }
  }
}
