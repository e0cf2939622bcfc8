import Foundation
import PersistTestSupport
import Testing

/// `Examples/GeneratedNotes` without its package, which would compile Persist twice: the long tests build it with the
/// plugin.
@Suite("The example with generated classes", .needsCompiler)
struct GeneratedExampleTests {
  @Test(
    "It compiles without a warning with the classes that the plugin's command generates, and prints its notes",
    .aboutPlainFiles("a program without a key"), .withoutSanitizedLinking)
  func runs() throws {
    let compiler = try #require(SnippetCompiler.shared)
    let sources = PackageFolder.url.appendingPathComponent("Examples/GeneratedNotes/Sources/Notes")
    try withTemporaryFolder { folder in
      // The arguments of the plugin.
      let outcome = try Command.run(
        "generate", sources.appendingPathComponent("Notes.xcdatamodeld").path, "--output", folder.path, "--single-file",
        "--skip-manual", "--module", "Notes")
      try #require(outcome.status == 0, "\(outcome.messages)")
      // SwiftPM's accessor for the resources of a target.
      let accessor = folder.appendingPathComponent("Accessor.swift")
      let text = """
        import Foundation

        extension Foundation.Bundle {
          static var module: Bundle { Bundle(path: #"\(sources.path)"#)! }
        }
        """
      try Data(text.utf8).write(to: accessor)
      let files = ["main.swift", "Label.swift"].map(sources.appendingPathComponent)
      let program = folder.appendingPathComponent("Notes")
      let generated = folder.appendingPathComponent("Notes+Generated.swift")
      try #expect(compiler.build(
        files + [generated, accessor], into: program, compiledWith: ["-module-name", "Notes"]) == [])
      #expect(try TestRun.output(of: program, in: folder) == "Kitchen: 2\nBuy tea false\nDescale the kettle false\n")
    }
  }
}
