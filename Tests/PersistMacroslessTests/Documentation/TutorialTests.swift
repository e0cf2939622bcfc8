import Foundation
@testable import Persist
@testable import PersistModel
@testable import PersistCore
import PersistTestSupport
import PersistTools
import Testing

/// The programs of the tutorial are built and run as a reader would, in the order of its sections.
@Suite("The tutorial")
struct TutorialTests {
  @Test(
    "The program of each section compiles without a warning and prints what the tutorial shows", .needsCompiler,
    .aboutPlainFiles("programs without keys"), .withoutSanitizedLinking)
  func programs() throws {
    let compiler = try #require(SnippetCompiler.shared)
    try withTemporaryFolder { folder in
      let sources = folder.appendingPathComponent("Sources")
      try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
      var (built, compared) = (0, 0)
      for section in try Tutorial.sections() {
        // A step replaces the file of the same name. The last steps of a section show its final state.
        for file in section.code where file.name.hasSuffix(".swift") && file.name != "Package.swift" {
          try Data(file.text().utf8).write(to: sources.appendingPathComponent(file.name))
        }
        let files = try FileManager.default.contentsOfDirectory(at: sources, includingPropertiesForKeys: nil)
        guard files.contains(where: { $0.lastPathComponent == "main.swift" }) else { continue }
        let program = folder.appendingPathComponent("Shop")
        try #expect(compiler.build(files.sorted { $0.path < $1.path }, into: program) == [], "\(section.title)")
        built += 1
        let output = try TestRun.output(of: program, in: folder)
        guard let shown = section.code.last(where: { $0.name == "Output" }) else { continue }
        let expected = try Self.withoutSizes(shown.text())
        #expect(Self.withoutSizes(output) == expected, "\(section.title)")
        compared += 1
      }
      #expect(built == 5 && compared == 4)
      let store = folder.appendingPathComponent("Shop.sqlite")
      try StoreCheck.check(storeAt: store) { problem in Issue.record("\(problem.detail)") }
      #expect(try PersistentStoreCoordinator.metadata(at: store).migrationLog.count == 2)
    }
  }

  @Test("The package manifest and the model of the first section compile", .needsCompiler)
  func firstSection() throws {
    let compiler = try #require(SnippetCompiler.shared)
    let first = try #require(Tutorial.sections().first)
    let manifest = try #require(first.code.first { $0.name == "Package.swift" })
    let model = try #require(first.code.first { $0.name == "Model.swift" })
    if let arguments = compiler.manifestArguments {
      #expect(try compiler.errors(in: manifest.url, isScript: true, compiledWith: arguments) == [])
    }
    #expect(try compiler.messages(ofModule: [model.url]) == [])
  }

  @Test("An unfinished file is the beginning of the section's final file")
  func unfinished() throws {
    var count = 0
    for section in try Tutorial.sections() {
      for file in section.code {
        guard let last = section.code.last(where: { $0.name == file.name }), last.url != file.url else { continue }
        #expect(try last.text().hasPrefix(file.text()), "\(file.url.lastPathComponent)")
        count += 1
      }
    }
    #expect(count == 3)
  }

  @Test("There are six sections, and each file in the folder of code is shown")
  func files() throws {
    let sections = try Tutorial.sections()
    #expect(sections.count == 6)
    let shown = sections.flatMap(\.code).map(\.url.lastPathComponent)
    let present = try FileManager.default.contentsOfDirectory(atPath: Tutorial.code.path)
    #expect(shown.sorted() == present.sorted())
  }

  @Test("The tutorial as one page of Markdown has the same texts, code and output")
  func page() throws {
    let page = try Tutorial.page()
    if ProcessInfo.processInfo.environment["PERSIST_RECORD_TUTORIAL"] != nil {
      try Data(page.utf8).write(to: Tutorial.pageFile)
    }
    let recorded = try String(contentsOf: Tutorial.pageFile, encoding: .utf8)
    #expect(page == recorded, "Run this test with PERSIST_RECORD_TUTORIAL=1 to write the page anew.")
    #expect(page.components(separatedBy: "\n```").count - 1 == 2 * 16, "Each file of code is shown.")
    #expect(!page.contains("\n@") && !page.contains(" @Step") && !page.contains("}\n}\n}"))
  }

  /// A text without byte counts, which depend on the version of SQLite.
  private static func withoutSizes(_ text: String) -> String {
    text.replacing(/\d+ (bytes|KB)/) { "\($0.1)" }
  }
}

/// The tutorial's sections, with the files that their steps show.
enum Tutorial {
  static let folder = PackageFolder.url.appendingPathComponent("Sources/Persist/Persist.docc/Tutorials")
  static let code = folder.appendingPathComponent("Code")
  /// The tutorial for readers of the repository, who see the directives of the documentation compiler as text.
  static let pageFile = PackageFolder.url.appendingPathComponent("Examples/Tutorial/README.md")

  struct Section {
    let title: String
    /// The files of the steps, in order.
    let code: [File]
  }

  struct File {
    /// The name shown to the reader.
    let name: String
    let url: URL

    func text() throws -> String { try String(contentsOf: url, encoding: .utf8) }
  }

  static func sections() throws -> [Section] {
    let text = try String(contentsOf: folder.appendingPathComponent("FirstStore.tutorial"), encoding: .utf8)
    return text.components(separatedBy: "@Section(title: \"").dropFirst().map { section in
      let files = section.matches(of: /@Code\(name: "([^"]+)", file: ([^)\s]+)\)/).map { match in
        File(name: String(match.1), url: code.appendingPathComponent(String(match.2)))
      }
      return Section(title: section.prefix { $0 != "\"" }.description, code: files)
    }
  }

  /// The tutorial in Markdown.
  static func page() throws -> String {
    let text = try String(contentsOf: folder.appendingPathComponent("FirstStore.tutorial"), encoding: .utf8)
    var lines: [String] = []
    var section = 0
    func add(_ line: String) { if !line.isEmpty || lines.last != "" { lines.append(line) } }
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let line = line.trimmingCharacters(in: .whitespaces)
      if let title = line.firstMatch(of: /@Intro\(title: "([^"]+)"\)/)?.1 {
        add("# \(title)")
        add("")
      } else if let title = line.firstMatch(of: /@Section\(title: "([^"]+)"\)/)?.1 {
        section += 1
        add("")
        add("## \(section). \(title)")
        add("")
      } else if let code = line.firstMatch(of: /@Code\(name: "([^"]+)", file: ([^)\s]+)\)/) {
        let file = try File(name: String(code.1), url: self.code.appendingPathComponent(String(code.2))).text()
        add("")
        if code.1 != "Output" {
          add("`\(code.1)`:")
          add("")
        }
        add("```\(code.1.hasSuffix(".swift") ? "swift" : "text")\n\(file.trimmingCharacters(in: .newlines))\n```")
      } else if !line.hasPrefix("@"), line != "}" {
        add(line)
      }
    }
    return lines.joined(separator: "\n").trimmingCharacters(in: .newlines) + "\n"
  }
}
