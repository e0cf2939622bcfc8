import Foundation
import PersistTestSupport
import Testing

/// The order of the framework's folders: each refers only to those before it.
private let layers = LayerRules(folders: [
  "Errors", "Values", "Formats", "Model/Descriptions", "Model/Checking", "Model/Conversion", "Model",
  "Model/Versions", "Model/Xcode", "Query", "Threads", "Rows", "Store/Layout", "Store/SQL", "Store/Plans", "Store",
  "Store/Writing", "Store/Catalog", "Store/History", "Store/Engine", "Store/SQLite/Files", "Store/SQLite/Connection",
  "Store/SQLite/Transactions", "Store/SQLite/Identification", "Store/SQLite/Pool", "Store/SQLite",
  "Store/SQLite/Engine",
  "Store/Location", "Store/Transfer",
  "Coordinator", "Context/Transformers", "Context/State", "Context/Generations", "Context/Merging", "Context/Fetching",
  "Context/Undo", "Context/Conflicts", "Context/Saving", "Context/Children", "Context/Finding", "Context/Batch",
  "Context/Import", "Context/History", "Migration/Plan", "Migration/Comparison", "Migration/Mapping", "Migration/Xcode",
  "Migration", "Observation", "Stack",
])

private let framework = PackageFolder.url.appendingPathComponent("Sources/Persist")

private let parsedSources = Result {
  try SwiftSource.files(in: framework).map {
    (path: String($0.url.path.dropFirst(framework.path.count + 1)), source: $0)
  }
}

private func frameworkSources() throws -> [(path: String, source: SwiftSource)] { try parsedSources.get() }

@Suite("Layers")
struct LayerTests {
  @Test("A folder of the framework names only those above it")
  func noUpwardReferences() throws {
    let sources = try frameworkSources()
    #expect(sources.count > 20)
    for violation in layers.violations(in: sources) { Issue.record(Comment(rawValue: violation.description)) }
  }

  @Test(
    "A folder of the framework refers only to those above it, members included",
    .enabled(if: IndexStore() != nil, "The compiler wrote no index, or the toolchain has no library that reads it."))
  func noUpwardMembers() throws {
    let references = try #require(IndexStore()).references(within: framework)
    #expect(references.count > 10_000)
    for reference in layers.upward(references) {
      Issue.record("\(reference.file):\(reference.line): \(reference.name), which \(reference.declaredIn) declares")
    }
  }

  @Test(
    "A migration refers to stores only through the protocols of Store/Engine",
    .enabled(if: IndexStore() != nil, "The compiler wrote no index, or the toolchain has no library that reads it."))
  func migrationNamesNoEngine() throws {
    let references = try #require(IndexStore()).references(within: framework).filter {
      $0.file.hasPrefix("Migration/") && $0.declaredIn.hasPrefix("Store/SQLite/")
    }
    for reference in references { Issue.record("\(reference.file):\(reference.line): \(reference.name)") }
  }

  @Test(
    "The planning of migrations can read stores, but not change them",
    .enabled(if: IndexStore() != nil, "The compiler wrote no index, or the toolchain has no library that reads it."))
  func planningOnlyReads() throws {
    let planning = ["Plan", "Comparison", "Mapping", "Xcode", "Planning", "Losses", "Path"].map { "Migration/\($0)/" }
    let writing = ["MigrationConnection", "MigrationEngine", "StoreCopy"].map { "Store/Engine/\($0).swift" }
    for reference in try #require(IndexStore()).references(within: framework)
    where writing.contains(reference.declaredIn) && planning.contains(where: reference.file.hasPrefix) {
      Issue.record("\(reference.file):\(reference.line): \(reference.name)")
    }
  }

  @Test(
    "Only Context/State changes the state of an object",
    .enabled(if: IndexStore() != nil, "The compiler wrote no index, or the toolchain has no library that reads it."))
  func stateHasOneOwner() throws {
    // The index counts reading an element of unsaved values as a change, so that these aren't among them.
    let fields: Set<String> = [
      "change", "loading", "row", "given", "marks", "changeIndex", "identifier", "kind", "additions",
    ]
    let references = try #require(IndexStore()).references(within: framework).filter {
      $0.isWrite && $0.declaredIn.hasPrefix("Context/State/") && fields.contains($0.name)
    }
    // The owner itself writes in several files; otherwise, the index would say nothing.
    #expect(Set(references.map(\.file)).count > 3)
    // Files in folders inside Context/State belong to its layer, but not to the owner.
    for reference in references where reference.file.split(separator: "/").dropLast() != ["Context", "State"] {
      Issue.record("\(reference.file):\(reference.line): \(reference.name) is changed outside of Context/State")
    }
  }

  @Test("Every file of the framework is in a folder that has a place in the order")
  func noStrays() throws {
    try #expect(layers.strays(in: frameworkSources().map(\.path)) == [])
  }

  @Test("No folder of the framework contains more than 15 files of its own")
  func smallFolders() throws {
    let folders = try Dictionary(grouping: frameworkSources()) { $0.source.url.deletingLastPathComponent().path }
    for (folder, files) in folders where files.count > 15 { Issue.record("\(folder) holds \(files.count) files") }
  }

  /// The number of pairs of folders that refer to each other, most of them in Context/State. It may only decrease.
  private static let knownMutualFolders = 4

  @Test(
    "Few folders of the framework refer to each other",
    .enabled(if: IndexStore() != nil, "The compiler wrote no index, or the toolchain has no library that reads it."))
  func mutualFolders() throws {
    func folder(_ file: String) -> String { file.split(separator: "/").dropLast().joined(separator: "/") }
    var uses: [String: Set<String>] = [:]
    for reference in try #require(IndexStore()).references(within: framework) {
      uses[folder(reference.file), default: []].insert(folder(reference.declaredIn))
    }
    let pairs = uses.flatMap { user, used in
      used.filter { user < $0 && uses[$0]?.contains(user) == true }.map { "\(user) and \($0)" }
    }
    #expect(pairs.count <= Self.knownMutualFolders, "\(pairs.sorted().formatted())")
  }

  @Test("An upward reference is found, with its line")
  func upwardReference() {
    let found = violations([
      "Errors/A.swift": "struct A {\n  var b: B\n}", "Values/B.swift": "struct B {}",
    ])
    #expect(found == ["Errors/A.swift:2: Errors names B, which Values declares; a folder names only those above it"])
  }

  @Test("An upward reference to a type inside another is found")
  func nestedReference() {
    let found = violations([
      "Errors/A.swift": "struct A {}\nlet x = A.Low.self", "Values/A+Low.swift": "extension A { enum Low {} }",
    ])
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("Errors/A.swift:2: Errors names A.Low") == true)
  }

  @Test("Comments, strings, own inner types and private types of others aren't references")
  func noFalseAlarms() {
    #expect(
      violations([
        "Errors/A.swift": """
          /// See ``Column`` and /* nested */ Column.
          struct A { struct Kind {}; let text = "a Column \\(1) and \\(Kind.self)"; let kind: Kind }
          /* Column /* Column */ Column */
          """,
        "Values/B.swift": "struct Kind {}\nstruct Column {}\nprivate struct A {}",
      ]) == [])
  }

  @Test("A reference inside a string's interpolation counts")
  func interpolation() {
    #expect(
      violations([
        "Errors/A.swift": "let a = \"\\(Column(name: \")\").name)\"", "Values/B.swift": "struct Column {}",
      ]).count == 1)
  }

  private func violations(_ files: [String: String]) -> [String] {
    layers.violations(
      in: files.map { ($0.key, SwiftSource(URL(fileURLWithPath: $0.key), text: $0.value)) }
    ).map(\.description)
  }
}
