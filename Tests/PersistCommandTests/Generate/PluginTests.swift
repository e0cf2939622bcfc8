import Foundation
import PersistTestSupport
import Testing

/// The build-tool plugin in a separate package: a copy of the example, which is built repeatedly.
@Suite(
  "The build-tool plugin",
  .enabled(if: TestLength.isLong, "Compiles Persist twice: set PERSIST_LONG_TESTS to build the example package."))
struct PluginTests {
  @Test("Classes follow the model with each build, and a build without a change writes nothing")
  func builds() throws {
    try withTemporaryFolder { folder in
      let package = try ExamplePackage(in: folder)

      let first = try package.build()
      #expect(first.status == 0, "\(first.output)")
      #expect(!first.output.contains("warning:"), "\(first.output)")
      try #expect(package.run() == "Kitchen: 2\nBuy tea false\nDescale the kettle false\n")
      let generated = try package.generated()
      #expect(generated.contains("extension Label {"))

      // SwiftPM builds a plugin's tool in two graphs with a database each over the same files: the second build links
      // the tool again, and so runs it again. It writes nothing, and nothing is compiled.
      let made = try package.generatedAt()
      let second = try package.build()
      #expect(second.status == 0)
      #expect(!second.output.contains("Compiling Notes"), "\(second.output)")
      try #expect(package.generatedAt() == made)
      let third = try package.build()
      #expect(third.status == 0)
      #expect(!third.output.contains("Generating"), "\(third.output)")

      try package.edit("contents", #"name="text""#, #"name="words""#)
      try package.edit("main.swift", "note.text", "note.words")
      let renamed = try package.build()
      #expect(renamed.status == 0, "\(renamed.output)")
      try #expect(package.run().hasPrefix("Kitchen: 2"))
      try #expect(package.generated().contains("var words: String"))

      try package.edit("contents", "</model>", #"<entity name="Folder" codeGenerationType="class"/></model>"#)
      _ = try package.build()
      try #expect(package.generated().contains("class Folder"))
      try package.edit("contents", #"<entity name="Folder" codeGenerationType="class"/>"#, "")
      let removed = try package.build()
      #expect(removed.status == 0, "\(removed.output)")
      try #expect(!package.generated().contains("class Folder"))

      try package.edit("contents", #"destinationEntity="Label""#, #"destinationEntity="Nobody""#)
      let wrong = try package.build()
      #expect(wrong.status != 0)
      #expect(
        wrong.output.contains(/Notes\.xcdatamodel\/contents:7: error: Note\.labels: .*Nobody/), "\(wrong.output)")
    }
  }
}

/// A copy of `Examples/GeneratedNotes`.
private struct ExamplePackage {
  let folder: URL
  /// The output of the build, and its exit status.
  typealias Outcome = (status: Int32, output: String)

  init(in parent: URL) throws {
    folder = parent.appendingPathComponent("GeneratedNotes")
    let example = PackageFolder.url.appendingPathComponent("Examples/GeneratedNotes")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for part in ["Package.swift", "Sources"] {
      try FileManager.default.copyItem(
        at: example.appendingPathComponent(part), to: folder.appendingPathComponent(part))
    }
    try edit("Package.swift", #"path: "../..""#, #"path: "\#(PackageFolder.url.path)""#)
  }

  func build() throws -> Outcome {
    let outcome = try swift("build")
    return (outcome.status, outcome.output + outcome.messages)
  }

  func run() throws -> String { try swift("run", "--skip-build", "Notes").output }

  /// The text written by the plugin's last run.
  func generated() throws -> String { try String(contentsOf: generatedFile(), encoding: .utf8) }

  /// When the plugin last wrote it.
  func generatedAt() throws -> Date? {
    try generatedFile().resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
  }

  private func generatedFile() throws -> URL {
    let outputs = folder.appendingPathComponent(".build/plugins/outputs")
    let files = FileManager.default.enumerator(at: outputs, includingPropertiesForKeys: nil)?.allObjects ?? []
    return try #require(files.compactMap { $0 as? URL }.first { $0.lastPathComponent == "Notes+Generated.swift" })
  }

  /// Replaces a text in the only file with a name.
  func edit(_ name: String, _ old: String, _ new: String) throws {
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects ?? []
    let file = try #require(
      files.compactMap { $0 as? URL }.first { $0.lastPathComponent == name && !$0.path.contains(".build") })
    let text = try String(contentsOf: file, encoding: .utf8)
    try #require(text.contains(old))
    try Data(text.replacingOccurrences(of: old, with: new).utf8).write(to: file)
  }

  private func swift(_ arguments: String...) throws -> Command.Outcome {
    // As in a shell: the variable names the folder in which a command runs.
    try Command.run(
      ["swift"] + arguments, program: URL(fileURLWithPath: "/usr/bin/env"), in: folder,
      environment: ["PWD": folder.path])
  }
}
