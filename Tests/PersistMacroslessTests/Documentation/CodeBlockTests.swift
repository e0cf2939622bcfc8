import Foundation
import PersistTestSupport
import Testing

/// The code blocks of the README and the articles are compiled unchanged, each within a frame that provides the context
/// assumed by the surrounding text. Frames are in `Tests/Snippets/Documentation`, one for each page; a line `// <block
/// 2>` is the place of the page's third block. A block that is a whole source of an example needs no frame: the example's
/// own package compiles it, with packages that this one doesn't know.
@Suite("Code in the documentation")
struct CodeBlockTests {
  @Test("Every code block of the README and the articles compiles", .needsCompiler, arguments: Page.all)
  func compiles(page: Page) throws {
    let compiler = try #require(SnippetCompiler.shared)
    let blocks = try page.blocks()
    var framed = try blocks.indices.filter { try Page.exampleSources().contains(blocks[$0]) }
    for frame in page.frames {
      let code = try frame.filled(with: blocks)
      framed += code.blocks
      try withTemporaryFolder { folder in
        let file = folder.appendingPathComponent("\(page.name).swift")
        try Data(code.text.utf8).write(to: file)
        guard let arguments = frame.isManifest ? compiler.manifestArguments : [] else {
          return print("The compiler's folder has no module PackageDescription: a manifest of \(page.name) isn't compiled.")
        }
        for error in try compiler.errors(in: file, isScript: code.isScript, compiledWith: arguments) {
          let line = code.text.split(separator: "\n", omittingEmptySubsequences: false)[error.line - 1]
          Issue.record("\(page.name): \(error.text)\n\(line)")
        }
      }
    }
    #expect(framed.sorted() == Array(blocks.indices), "\(page.name): each block has one place in a frame.")
  }

  @Test("The articles and the README have code blocks, so that the test above checks something")
  func blocks() throws {
    #expect(try Page.all.reduce(0) { try $0 + $1.blocks().count } > 60)
  }
}

/// A page of the documentation that has code blocks.
struct Page: Sendable, CustomTestStringConvertible {
  let url: URL

  var name: String { url.deletingPathExtension().lastPathComponent }
  var testDescription: String { name }

  /// Whether libpq was there when the tests were built.
  private static var hasServerLibrary: Bool {
    #if canImport(PersistPostgreSQL)
      true
    #else
      false
    #endif
  }

  static let all: [Page] = {
    let sources = PackageFolder.url.appendingPathComponent("Sources")
    let articles = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)?
      .compactMap { $0 as? URL }.filter { $0.pathExtension == "md" } ?? []
    return ([PackageFolder.url.appendingPathComponent("README.md")] + articles).map(Page.init)
      .filter { ((try? $0.blocks()) ?? []).isEmpty == false && ($0.name != "PostgreSQL" || hasServerLibrary) }
      .filter { $0.url != Recipe.article }  // Complete programs, which CookbookTests runs.
      .sorted { $0.name < $1.name }
  }()

  /// The sources of the example from which the article about servers quotes whole files.
  static func exampleSources() throws -> [String] {
    let folder = PackageFolder.url.appendingPathComponent("Examples/Server/Sources/Reminders")
    return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .map { try String(contentsOf: $0, encoding: .utf8).trimmingCharacters(in: .newlines) }
  }

  func blocks() throws -> [String] {
    let text = try String(contentsOf: url, encoding: .utf8)
    return text.components(separatedBy: "\n```swift\n").dropFirst().map { rest in
      rest.components(separatedBy: "\n```").first ?? ""
    }
  }

  var frames: [Frame] {
    ["\(name).swift", "\(name).manifest.swift"].map { file in
      Frame(url: PackageFolder.url.appendingPathComponent("Tests/Snippets/Documentation/\(file)"))
    }.filter { FileManager.default.fileExists(atPath: $0.url.path) }
  }
}

/// Code around the blocks of a page.
struct Frame {
  let url: URL

  var isManifest: Bool { url.lastPathComponent.hasSuffix(".manifest.swift") }

  struct Filled {
    var text = ""
    /// The numbers of the blocks that have a place in the frame.
    var blocks: [Int] = []
    var isScript = false
  }

  /// The frame with blocks in their places. Imports within blocks come first.
  func filled(with blocks: [String]) throws -> Filled {
    var filled = Filled()
    var (imports, lines) = ([Substring](), [Substring]())
    for line in try String(contentsOf: url, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false) {
      if line == "// as-script" { filled.isScript = true }
      guard let number = line.wholeMatch(of: /\ *\/\/ <block (\d+)>/).flatMap({ Int($0.1) }), number < blocks.count else {
        lines.append(line)
        continue
      }
      filled.blocks.append(number)
      for line in blocks[number].split(separator: "\n", omittingEmptySubsequences: false) {
        if line.hasPrefix("import ") { imports.append(line) } else { lines.append(line) }
      }
    }
    filled.text = (imports + lines).joined(separator: "\n")
    return filled
  }
}
