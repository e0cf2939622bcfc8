import ArgumentParser
import Foundation
import Persist

/// What every command that reads a store takes.
struct StoreArguments: ParsableArguments {
  @Argument(help: "The store's file.")
  var store: String

  @Option(help: "A folder with models, or one model; without it the store's own model serves.")
  var models: String?

  @Flag(help: "Print JSON for programs.")
  var json = false

  var url: URL { URL(fileURLWithPath: store) }

  /// The models that were given; nil where none were.
  func registry() throws -> ModelRegistry? {
    // Reading a store needs its own version, which need not be the current one.
    try models.map { try ModelRegistry(contentsOf: URL(fileURLWithPath: $0), needsCurrent: false) }
  }

  /// Opens the store for reading, and tells where its tables aren't those of its model.
  func contents() throws -> StoreContents {
    let contents = try StoreContents(readingStoreAt: url, registry: registry())
    for gap in contents.gaps { StandardError.print("persist: \(gap)") }
    return contents
  }
}
