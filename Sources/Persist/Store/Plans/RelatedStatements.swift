/// The statements that read members of relationships, each made when it is first needed.
final class RelatedStatements: Sendable {
  struct Key: Hashable {
    let entity: Int
    let slot: Int
    /// The number of owners whose members' rows are read; 0 for the identifiers of one owner's members.
    var ownerCount = 0
  }

  private let known = LockProtected<[Key: PreparedSQL]>(Dictionary())

  /// Returns a statement, made from `sql` the first time; nil if there is none.
  func statement(_ key: Key, _ sql: () throws -> SQLText?) rethrows -> PreparedSQL? {
    if let known = known.withLock({ $0[key] }) { return known }
    guard let made = try sql().map({ PreparedSQL($0) }) else { return nil }
    return known.withLock { known in
      if let first = known[key] { return first }
      known[key] = made
      return made
    }
  }
}
