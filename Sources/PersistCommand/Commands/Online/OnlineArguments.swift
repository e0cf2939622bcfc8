#if canImport(PersistOnlineMigrations)
  import ArgumentParser
  import Foundation
  import Persist
  import PersistOnlineMigrations

  /// The arguments of the commands for a store whose online migration has begun.
  struct OnlineArguments: ParsableArguments {
    @Argument(help: "The store: postgresql://USER@HOST/DATABASE?schema=NAME.")
    var store: String

    @Option(
      help: ArgumentHelp(
        "The models with which the store was expanded.",
        discussion: """
          Needed for mapping models and for renames through versions in between; the store contains both models.
          """))
    var models: String?

    @OptionGroup var common: OutputArguments

    var json: Bool { common.json }

    func migration() throws -> OnlineMigration {
      OnlineMigration(
        storeAt: try StoreArgument.url(store),
        registry: try models.map { try ModelRegistry(contentsOf: ModelRegistry.url(of: $0)) })
    }
  }

  extension OnlineMigration {
    /// Prints the state of the store after a command.
    func printState(asJSON: Bool, _ text: String) throws {
      let status = try status()
      guard asJSON else { return try StandardOutput.print(text) }
      try StandardOutput.print {
        $0.field("state", status.state.rawValue)
        $0.field("from", status.from)
        $0.field("to", status.to)
      }
    }
  }
#endif
