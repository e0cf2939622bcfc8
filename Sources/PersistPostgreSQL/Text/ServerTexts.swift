import Persist

/// The texts of statements that a store runs often: only their parameters are made for each run, because putting a text
/// together takes longer than everything else that a program does for a small save or read.
final class ServerTexts: Sendable {
  /// A statement, by everything but its parameters.
  enum Key: Hashable, Sendable {
    /// Begins a transaction that writes.
    case opening(findsTables: Bool, keepsOldValues: Bool, namesModel: Bool)
    /// Writes a proof, and makes a change.
    case proof(CheckedChange.Shape?)
    case change(CheckedChange.Shape)
    /// Rows by keys, by the number of the entity.
    case rows(entity: Int, includesSubentities: Bool, keysOnly: Bool)
    /// The identifiers of an owner's members, by the number of the owner's entity and the slot of the relationship.
    case members(entity: Int, slot: Int)
    /// The rows of several owners' members.
    case memberRows(entity: Int, slot: Int, isLimited: Bool)
  }

  private let schema: String
  private let texts = LockProtected<[Key: String]>([:])
  /// The maximum number of texts; few stores have as many combinations of changed properties.
  private static let capacity = 500

  init(schema: String) { self.schema = schema }

  /// A statement with parameters.
  ///
  /// - Parameters:
  ///   - parameters: The same, and in the same order, as those of the text.
  ///   - make: Puts the text together.
  func statement(
    _ key: Key, binding parameters: [ServerParameter], _ make: () throws -> ServerText
  ) rethrows -> ServerText {
    if let text = texts.withLock({ $0[key] }) { return ServerText(complete: text, parameters) }
    let statement = try make().statement(in: schema)
    assert(statement.parameters.map(\.type) == parameters.map(\.type), "The parameters aren't those of the text.")
    texts.withLock { texts in
      if texts.count >= Self.capacity { texts.removeAll() }
      texts[key] = statement.text
    }
    return ServerText(complete: statement.text, statement.parameters)
  }
}
