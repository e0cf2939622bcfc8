import ArgumentParser
import Foundation
import Persist
import PersistTools
import PersistInspection

/// `persist capsule`: a file that reproduces a failing migration, with nothing of the user's.
struct CapsuleCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "capsule", abstract: "Write a file that reproduces a failing migration, with noise for all values.",
    discussion: """
      A copy of the store is migrated. If that fails, the capsule contains the models, the plan, the failing step, and \
      the store's tables, in which texts, bytes, numbers and dates are replaced by noise of the same length, \
      also in the definitions of your own tables, indexes, views and triggers. Keys, references, nulls and the \
      equality of values remain, and so do names of tables and columns, and numbers in definitions. The store itself \
      isn't changed.

        persist capsule Shop.sqlite --models Models -o shop.capsule
        persist replay shop.capsule

      The capsule is a text file: read it before you send it.
      """)

  @OptionGroup var arguments: MigrationArguments

  @Option(name: .shortAndLong, help: "The file to write.")
  var output: String

  @Flag(help: "Copy into a new file even if the migration is possible in place, as in 'migrate'.")
  var copy = false

  @Flag(help: "Allow the migration to lose values, as in 'migrate'.")
  var allowLoss = false

  func run() throws {
    let destination = try StoreArgument.file(output, "A capsule")
    let settings = CapsuleSettings(
      to: arguments.to, copies: copy, allowsLoss: allowLoss, defersWork: arguments.defersWork,
      discards: arguments.discard)
    let models = try ModelRegistry.url(of: arguments.models)
    if let name = arguments.to { try requireVersion(name, at: models) }
    try TemporaryFolder.with { folder in
      let original = folder.appendingPathComponent("original.sqlite")
      try copyStore(to: original)
      let (_, failure) = try MigrationAttempt(models: models, settings: settings).run(storeAt: original)
      guard let failure else {
        throw PersistenceError(
          .invalidRequest, at: .store(try arguments.url),
          "The migration doesn't fail, so there is nothing to reproduce.",
          fix: "Give the options with which it fails: --to, --copy, --defer.")
      }
      let writer = CapsuleWriter(models: models, settings: settings)
      let tables = try writeBody(writer, of: original, to: folder.appendingPathComponent("body"))
      // The failure is recorded as it occurs with noise in place of the values, so that its message contains none of
      // the store's.
      let (plan, repeated) = try replay(folder, settings)
      guard let repeated, repeated.isSame(as: failure) else { throw differs(failure, repeated) }
      try ExportedFile.write(to: destination) { file in
        try writer.writeHeader(repeated, plan: plan, tables: tables, to: &file)
        var body = try ByteReader(folder.appendingPathComponent("body"))
        var line: [UInt8] = []
        while try body.readLine(into: &line) { try file.write(String(decoding: line, as: UTF8.self) + "\n") }
      }
      try report(repeated, rows: tables.reduce(0) { $0 + $1.rows })
    }
  }

  /// Refuses a version that doesn't exist: a misspelled name is no failure of a migration. One that can't be read is.
  private func requireVersion(_ name: String, at models: URL) throws {
    guard let registry = try? ModelRegistry(contentsOf: models, needsCurrent: false),
      !registry.families.contains(where: { $0.versionNames.contains(name) || $0.version(named: name) != nil })
    else { return }
    // Throws the error that names the existing ones.
    _ = try registry.version(named: name)
  }

  private func copyStore(to copy: URL) throws {
    let url = try arguments.url
    if url.isFileURL {
      try StoreBackup.copy(storeAt: url, to: copy)
    } else {
      _ = try VerifiedCopy(of: url, to: copy).run()
    }
  }

  private func writeBody(_ writer: CapsuleWriter, of store: URL, to url: URL) throws -> [(table: String, rows: Int)] {
    // A store of an unknown model is a reason for a failure.
    let registry = try? ModelRegistry(contentsOf: writer.models, needsCurrent: false)
    let model = try? StoreIdentification.identify(storeAt: store, registry: registry).model
    let shape = try StoreShapeReader(storeAt: store, model: model, others: registry?.versions.map(\.model) ?? [])
    defer { shape.close() }
    var tables: [(table: String, rows: Int)] = []
    try ExportedFile.write(to: url) { file in tables = try writer.writeBody(of: shape, to: &file) }
    return tables
  }

  /// Builds the store of the capsule, and migrates it.
  private func replay(_ folder: URL, _ settings: CapsuleSettings) throws -> (MigrationPlan?, FailedStep?) {
    var reader = try CapsuleReader(folder.appendingPathComponent("body"))
    let (store, models) = (folder.appendingPathComponent("Store.sqlite"), folder.appendingPathComponent("Models"))
    try reader.build(storeAt: store, models: models)
    return try MigrationAttempt(models: models, settings: settings).run(storeAt: store)
  }

  private func differs(_ failure: FailedStep, _ repeated: FailedStep?) -> PersistenceError {
    let other = repeated.map { "fails in another way: \($0.message)" } ?? "succeeds"
    return PersistenceError(
      .invalidRequest, "The failure depends on the values themselves: with noise for them, the migration \(other)",
      fix: "No capsule is written. The failure is: \(failure.message)")
  }

  private func report(_ failure: FailedStep, rows: Int) throws {
    if arguments.json {
      try StandardOutput.print {
        $0.field("file", output)
        $0.field("rows", rows)
        $0.key("failure")
        $0.object { $0.fields(of: failure) }
      }
    } else {
      try StandardOutput.print(
        "\(output): \(Measure.count(rows, "row")) of noise, which fail as the store does.\n"
          + "step   \(failure.step)\nerror  \(failure.message)")
    }
  }
}
