import ArgumentParser
import Foundation
import Persist
import PersistInspection

/// `persist replay`: reproduces the failure that a capsule contains.
struct ReplayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Build the store of a capsule, and reproduce the failure of its migration.",
    discussion: """
      Exits with 0 if the migration fails as recorded: at the same step, with the same error. Exits with 3 if it \
      succeeds or fails in another way, as it should once the cause is fixed.
      """)

  @Argument(help: "A file that 'persist capsule' wrote.")
  var file: String

  @Option(help: "Keep the store and the models in this new folder, to work on them.")
  var keep: String?

  @OptionGroup var common: OutputArguments

  func run() throws {
    var reader = try CapsuleReader(StoreArgument.file(file, "A capsule"))
    let header = try reader.header()
    let failure = try build(&reader) { store, models in
      try MigrationAttempt(models: models, settings: header.settings).run(storeAt: store).failure
    }
    let isReproduced = failure.map(header.failure.isSame) ?? false
    if common.json {
      try StandardOutput.print {
        $0.field("reproduced", isReproduced)
        $0.key("failure")
        guard let failure else { return $0.null() }
        $0.object { $0.fields(of: failure) }
      }
    } else if let failure {
      let words = isReproduced ? "Reproduced." : "Fails in another way. Recorded: \(header.failure.message)"
      try StandardOutput.print("\(words)\nstep   \(failure.step)\nerror  \(failure.message)")
    } else {
      try StandardOutput.print("Not reproduced: the migration succeeds. Recorded: \(header.failure.message)")
    }
    guard isReproduced else { throw Failure.found }
  }

  private func build(_ reader: inout CapsuleReader, _ body: (URL, URL) throws -> FailedStep?) throws -> FailedStep? {
    try TemporaryFolder.with { temporary in
      var folder = temporary
      if let keep {
        folder = try StoreArgument.file(keep, "A folder to keep", isFolder: true)
        guard !FileManager.default.fileExists(atPath: folder.path) else {
          throw PersistenceError(.fileAccess, at: .file(folder), "The folder already exists.", fix: "Name a new one.")
        }
        try ExportedFile.makeFolder(folder)
      }
      let (store, models) = (folder.appendingPathComponent("Store.sqlite"), folder.appendingPathComponent("Models"))
      try reader.build(storeAt: store, models: models)
      return try body(store, models)
    }
  }
}
