import Foundation
import PersistTestSupport
import Testing

/// Classes of whole models, as accepted by the compiler and used by programs.
@Suite("Generated classes of whole models", .needsCompiler)
struct GeneratedModelTests {
  /// The ways in which a module can be compiled.
  enum Mode: String, CaseIterable {
    case upcomingFeatures, libraryEvolution, mainActor

    var arguments: [String] {
      switch self {
      case .upcomingFeatures:
        ["InternalImportsByDefault", "ExistentialAny", "MemberImportVisibility"].flatMap {
          ["-enable-upcoming-feature", $0]
        }
      case .libraryEvolution: ["-enable-library-evolution"]
      case .mainActor: ["-default-isolation", "MainActor"]
      }
    }
  }

  /// Generates classes of a model and returns the files.
  private static func generate(_ model: URL, into folder: URL, _ arguments: String...) throws -> [URL] {
    let outcome = try Command.run(["generate", model.path, "--output", folder.path] + arguments)
    guard outcome.status == 0 else { throw CocoaError(.fileReadCorruptFile, userInfo: ["text": outcome.messages]) }
    return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .sorted { $0.path < $1.path }
  }

  /// The large model's classes, with the file of the user's own types.
  private static func withLargeModel(_ body: (_ model: URL, _ sources: [URL], _ folder: URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let model = folder.appendingPathComponent("Large.xcdatamodeld")
      let version = model.appendingPathComponent("Large.xcdatamodel")
      try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
      try Data(LargeModel.contents.utf8).write(to: version.appendingPathComponent("contents"))
      let own = folder.appendingPathComponent("Own.swift")
      try Data(LargeModel.ownTypes.utf8).write(to: own)
      try body(model, generate(model, into: folder.appendingPathComponent("out")) + [own], folder)
    }
  }

  @Test(
    "A program stores and reads objects of 88 generated classes, which compile without a warning",
    .aboutPlainFiles("a program without a key"),
    .withoutSanitizedLinking)
  func largeProgram() throws {
    let compiler = try #require(SnippetCompiler.shared)
    try Self.withLargeModel { model, sources, folder in
      // A file for each entity, one for each composite type, the list, and the user's own.
      #expect(sources.count == LargeModel.entityCount + 2 + 1 + 1)
      let main = folder.appendingPathComponent("main.swift")
      try Data(LargeModelProgram.main.utf8).write(to: main)
      let program = folder.appendingPathComponent("Program")
      try #expect(compiler.build(sources + [main], into: program) == [])
      let outcome = try Command.run(
        [model.path, folder.appendingPathComponent("Store.sqlite").path], program: program)
      #expect(outcome.output.hasPrefix("right: "), "\(outcome.output)\(outcome.messages)")
      #expect(outcome.status == 0)
    }
  }

  @Test(
    "The 88 classes compile without a warning however a module is compiled",
    .enabled(if: TestLength.isLong, "Compiles them three times: set PERSIST_LONG_TESTS."), arguments: Mode.allCases)
  func modes(_ mode: Mode) throws {
    let compiler = try #require(SnippetCompiler.shared)
    try Self.withLargeModel { _, sources, _ in
      let messages = try compiler.messages(ofModule: sources, compiledWith: mode.arguments)
      #expect(messages.isEmpty, "\(messages.joined(separator: "\n"))")
    }
  }

  @Test("Every real model produces classes that compile without a warning", .needsSharedData)
  func realModels() throws {
    let compiler = try #require(SnippetCompiler.shared)
    let all = SharedData.modelContents.map { $0.deletingLastPathComponent() }
    // Only the newest version of each model, in short runs.
    let newest = Dictionary(grouping: all) { $0.deletingLastPathComponent() }.values.compactMap { versions in
      versions.max { $0.path.compare($1.path, options: .numeric) == .orderedAscending }
    }
    let versions = TestLength.isLong ? all : newest
    let progress = LongLoop("Classes of every real model", of: versions.count)
    for version in versions {
      progress.advance()
      try withTemporaryFolder { folder in
        let sources = try Self.generate(version, into: folder.appendingPathComponent("out"))
        let messages = try compiler.messages(ofModule: sources)
        #expect(messages.isEmpty, "\(version.path)\n\(messages.joined(separator: "\n"))")
      }
    }
  }
}
