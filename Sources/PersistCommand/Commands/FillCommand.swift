import ArgumentParser
import Foundation
import Persist
import PersistTools
import PersistTesting

/// `persist fill`: random objects for trying things out.
struct FillCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fill",
    abstract: "Fill a store with random valid objects; create the store if it doesn't exist.")

  @Argument(help: "The store: a file, or postgresql://USER@HOST/DATABASE?schema=NAME.")
  var store: String

  @Option(help: "A folder with models, or one model.")
  var models: String

  @Option(help: "The model version of a new store; the current one by default.")
  var version: String?

  @Option(parsing: .unconditional, help: ArgumentHelp(
      "The number of objects for each entity that isn't abstract.",
      discussion: "There are more of an entity if required relationships of others need them."))
  var rows: Int

  @Option(
    name: .customLong("rows-of"),
    help: ArgumentHelp(
      "The exact number of objects of an entity. Can be repeated.", valueName: "ENTITY=N"))
  var rowsOf: [String] = []

  @Option(parsing: .unconditional, help: "The seed of the random numbers; the same seed gives the same objects.")
  var seed: UInt64 = 1

  @OptionGroup var common: OutputArguments

  private var json: Bool { common.json }

  func validate() throws {
    guard (0...FillPass.rowLimit).contains(rows) else {
      throw ValidationError("--rows has to be between 0 and \(FillPass.rowLimit).")
    }
    _ = try numbers()
  }

  /// The numbers of objects of entities by name.
  private func numbers() throws -> [String: Int] {
    var numbers: [String: Int] = [:]
    for text in rowsOf {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let number = Int(parts[1]), (0...FillPass.rowLimit).contains(number),
        numbers.updateValue(number, forKey: String(parts[0])) == nil
      else {
        throw ValidationError(
          "--rows-of \(ValueWords.text(text)): write ENTITY=N, once for each entity, with a number from 0 to "
            + "\(FillPass.rowLimit).")
      }
    }
    return numbers
  }

  func run() throws {
    let url = try StoreArgument.url(store)
    let registry = try ModelRegistry(
      contentsOf: ModelRegistry.url(of: models), needsCurrent: version == nil && !StoreWriter.isStore(at: url))
    let writer = try StoreWriter(storeAt: url, registry: registry, version: version)
    let numbers = try numbers()
    let total = writer.model.entities.filter { !$0.isAbstract }.reduce(0) { $0 + (numbers[$1.name] ?? rows) }
    var bar = ProgressBar("filling")
    defer { bar.finish() }
    let start = ContinuousClock.now
    let made = try writer.closing {
      try FillPass(store: writer, rows: rows, rowsOf: numbers, seed: seed).run { done in
        bar.show(min(1, Double(done) / Double(max(total, 1))), detail: "\(done) objects")
      }
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    bar.finish()
    if json {
      try StandardOutput.print {
        $0.field("version", writer.versionName)
        $0.field("rows", made)
        $0.field("seconds", seconds)
      }
    } else {
      let words = Measure.duration(seconds: seconds)
      try StandardOutput.print("\(made) objects of version '\(writer.versionName ?? "")' in \(words)")
    }
  }
}
