import ArgumentParser
import Foundation
import Persist
import PersistTools
import PersistInspection

/// `persist copy`: copies a store to another place.
struct CopyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy", abstract: "Copy a store: a file to a server, a server to a file, or within either.",
    discussion: """
      The copy has the keys, versions, orders, metadata, history and identifier of the store, so that identifiers and \
      URIs remain valid. All its values are compared with the store's before it gets its name: if anything fails, the \
      destination is unchanged.

        persist copy Shop.sqlite "postgresql://shop@db.example.com/shop?schema=shop"

      The copy of an encrypted store in a file has the same key, unless another one is named. A store is encrypted by \
      copying it with a new key:

        persist copy Shop.sqlite Encrypted.sqlite --new-key-file secret.key
      """)

  @Argument(help: "The store: a file, or postgresql://USER@HOST/DATABASE?schema=NAME.")
  var from: String

  @Argument(help: "The place of the copy, in the same form.")
  var to: String

  @Option(help: "A folder with models, or one model, for a store that doesn't contain its model.")
  var models: String?

  @Flag(help: "Replace a store at the destination.")
  var force = false

  @OptionGroup(title: "Encrypted stores") var newKey: NewKeyArguments

  @Flag(help: "Make a plain copy of an encrypted store.")
  var plain = false

  @OptionGroup var common: OutputArguments

  /// The encryption of the copy.
  private func encryption() throws -> StoreEncryption? {
    let key = try newKey.source()
    guard plain else { return key.map { StoreEncryption($0.provider) } ?? StoreEncryption.current }
    if key != nil { throw ValidationError("A plain copy has no key.") }
    return nil
  }

  func run() throws {
    let (source, destination) = (try StoreArgument.url(from), try StoreArgument.url(to))
    var bar = ProgressBar("copying")
    defer { bar.finish() }
    // Comparing counts as the second half of the work.
    let registry = try models.map(ModelRegistry.forStores(at:))
    let copy = try VerifiedCopy(
      of: source, to: destination, registry: registry, replacing: force, encryptedLike: encryption()
    ) { work, done, total in
      let half = min(Double(done) / Double(max(total, 1)), 1) / 2
      switch work {
      case .copying: bar.show(half, detail: "\(done) of \(total) objects")
      case .comparing: bar.show(0.5 + half, detail: "comparing, \(done) of \(total) objects")
      }
    }
    if !force, try copy.isDestinationTaken() {
      throw PersistenceError(
        .fileAccess, at: .store(destination), "The destination already exists.",
        fix: "Choose another destination, or replace a store with --force.")
    }
    let start = ContinuousClock.now
    let outcome = try copy.run()
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    bar.finish()
    if common.json {
      try StandardOutput.print {
        $0.field("objects", outcome.objects)
        $0.field("values", outcome.values)
        $0.field("seconds", seconds)
      }
    } else {
      let words = Measure.duration(seconds: seconds)
      try StandardOutput.print(
        "\(outcome.objects) objects in \(words). All \(outcome.values) values of the copy are equal.")
    }
  }
}
