import ArgumentParser
import Foundation
import Persist
import PersistTools

/// The arguments of every command that reads a store.
struct StoreArguments: ParsableArguments {
  @Argument(help: "The store: a file, or postgresql://USER@HOST/DATABASE?schema=NAME.")
  var store: String

  @Option(help: "A folder with models, or one model; by default the store's embedded model is used.")
  var models: String?

  @OptionGroup var common: OutputArguments

  var json: Bool { common.json }

  var url: URL { get throws { try StoreArgument.url(store) } }

  /// The registry of the given models; nil if none were given.
  func registry() throws -> ModelRegistry? {
    try models.map(ModelRegistry.forStores(at:))
  }

  /// Opens the store for reading, and reports differences between its tables and its model.
  func contents() throws -> StoreContents { try contents(identifiedAmong: registry()) }

  func contents(identifiedAmong registry: ModelRegistry?) throws -> StoreContents {
    let contents = try StoreContents(readingStoreAt: url, registry: registry)
    for gap in contents.gaps { StandardError.print("persist: \(gap)") }
    return contents
  }
}
