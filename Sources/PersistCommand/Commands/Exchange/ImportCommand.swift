import ArgumentParser
import Foundation
import Persist
import PersistTools
import PersistInspection

/// `persist import`: objects from a file into a store.
struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Import objects from JSON lines or CSV: all of them, or none.",
    discussion: """
      Reads what 'persist export' writes: a file of JSON lines in the form of 'persist dump --json', a CSV file of one \
      entity, or a folder of such files. Keys and relationships are preserved. A file whose name ends with none of \
      .csv, .json, .jsonl and .ndjson contains CSV if --entity is given, and otherwise JSON lines.

      In a CSV file the first line names the columns: 'pk', attributes, and relationships, whose objects are named as \
      ENTITY/KEY and separated by spaces. A cell without anything in it is null, and "" an empty text. Dates are in \
      ISO 8601 or seconds since 2001; binary values are in base64.
      """)

  @Argument(
    help: """
      The store: a file, or postgresql://USER@HOST/DATABASE?schema=NAME; created if it doesn't exist and --models is \
      given.
      """)
  var store: String

  @Argument(help: "A file, '-' for standard input, or a folder with files that are named for their entities.")
  var source: String

  @Option(help: "A folder with models, or one model; by default the store's embedded model is used.")
  var models: String?

  @Option(help: "The model version of a new store; the current one by default.")
  var version: String?

  @Option(help: "The entity of a CSV file whose name isn't that of its entity.")
  var entity: String?

  @OptionGroup var common: OutputArguments

  private var json: Bool { common.json }

  func validate() throws {
    if version != nil, models == nil { throw ValidationError("--version needs --models.") }
  }

  func run() throws {
    let url = try StoreArgument.url(store)
    let from = try StoreArgument.file(
      source == "-" ? "/dev/stdin" : source, "A file to import", fix: "'persist copy' copies a whole store.")
    let files = try ImportedFile.files(at: from, entity: entity)
    let isThere = try StoreWriter.isStore(at: url)
    let registry = try models.map {
      try isThere
        ? ModelRegistry.forStores(at: $0)
        : ModelRegistry(contentsOf: ModelRegistry.url(of: $0), needsCurrent: version == nil)
    }
    guard isThere || registry != nil else {
      throw PersistenceError(
        .storeOpenFailed, at: .store(url), "There is no store.",
        fix: "Give the models with --models, so that it can be created.")
    }
    let writer = try StoreWriter(storeAt: url, registry: registry, version: version)
    var isDone = false
    defer { if !isDone, writer.isNew { discard(writer, url) } }
    let start = ContinuousClock.now
    let outcome = try read(files, into: writer)
    isDone = true
    try writer.close()
    try report(outcome, into: writer, seconds: (ContinuousClock.now - start) / .seconds(1))
  }

  private func read(_ files: [ImportedFile], into writer: StoreWriter) throws -> ImportOutcome {
    let entities = ImportedEntities(writer.model, storeIdentifier: writer.identifier)
    var bar = ProgressBar("importing")
    defer { bar.finish() }
    let total = files.reduce(0) { $0 + $1.size }
    var queue = ImportQueue(files, entities: entities)
    return try writer.insert {
      let slice = try queue.nextSlice()
      bar.show(Double(queue.position) / Double(max(total, 1)), detail: Measure.count(queue.count, "object"))
      return slice
    }
  }

  /// Deletes a store that was created for an import that failed.
  private func discard(_ writer: StoreWriter, _ url: URL) {
    do {
      try writer.discard()
    } catch {
      let name = StoreArgument.name(of: url)
      StandardError.printError("persist: The new, empty store '\(name)' can't be deleted: \(error)")
    }
  }

  private func report(_ outcome: ImportOutcome, into writer: StoreWriter, seconds: Double) throws {
    for problem in outcome.warnings { StandardError.print("note: \(problem.words)") }
    let more = outcome.warningCount - outcome.warnings.count
    if more > 0 { StandardError.print("note: … and \(more) more") }
    if json {
      try StandardOutput.print {
        $0.field("version", writer.versionName)
        $0.field("rows", outcome.count)
        $0.field("created", writer.isNew)
        $0.field("seconds", seconds)
      }
    } else {
      let words = Measure.duration(seconds: seconds)
      try StandardOutput.print("\(Measure.count(outcome.count, "object")) in \(words)")
    }
  }
}
