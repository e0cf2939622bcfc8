import ArgumentParser
import Foundation
import Persist
import PersistTools

/// `persist show`: one object by its URI.
struct ShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show one object. Never writes.",
    discussion: """
      Objects are named as in 'persist check' and in logs: x-coredata://STORE/Item/p7, or in short Item/7.
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The object's URI, or ENTITY/KEY.")
  var object: String

  func validate() throws {
    guard Self.shortForm(object) == nil else { return }
    guard let url = URL(string: object), ManagedObjectID(uriRepresentation: url)?.primaryKey != nil else {
      throw ValidationError(
        "\(ValueWords.text(object)) isn't the URI of an object. Name it as x-coredata://STORE/Item/p7 or Item/7.")
    }
  }

  func run() throws {
    let contents = try arguments.contents()
    let id = try identifier(in: contents)
    var isFound = false
    var output = ObjectOutput(asJSON: arguments.json)
    try contents.forEachObject([id]) { found in
      isFound = true
      try output.write(found)
    }
    try output.flush()
    guard isFound else {
      throw PersistenceError(
        .objectNotFound, at: .entity(id.entityName), "The store has no object \(id.entityName)/\(id.primaryKey ?? 0).",
        fix: "An object of a subentity is found under the name of its own entity. 'persist fetch' finds objects by "
          + "their values.")
    }
  }

  private func identifier(in contents: StoreContents) throws -> ManagedObjectID {
    let store = contents.metadata.identifier
    if let (entity, key) = Self.shortForm(object) {
      return ManagedObjectID(entityName: entity, storeIdentifier: store, key: .permanent(key))
    }
    guard let id = URL(string: object).flatMap({ ManagedObjectID(uriRepresentation: $0) }) else {
      throw PersistenceError(.invalidIdentifier, "\(ValueWords.text(object)) isn't the URI of an object.")
    }
    guard id.storeIdentifier == store else {
      throw PersistenceError(
        .objectNotFound, at: .store(try arguments.url), "The object belongs to the store \(id.storeIdentifier).",
        fix: "This store is \(store); open the other one instead.")
    }
    return id
  }

  /// The entity and the key of a name such as `Item/7` or `Item/p7`; nil for other names.
  private static func shortForm(_ name: String) -> (entity: String, key: Int64)? {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard !name.contains("://"), parts.count == 2, let key = Int64(parts[1].drop { $0 == "p" }) else { return nil }
    return (String(parts[0]), key)
  }
}
