/// The statements that read members of relationships, each made when it is first needed.
final class RelatedStatements: Sendable {
  struct Key: Equatable {
    let entity: Int
    let slot: Int
    /// The number of owners whose members' rows are read; 0 for the identifiers of one owner's members.
    var ownerCount = 0
  }

  private struct Known {
    let key: Key
    let sql: PreparedSQL
  }

  /// By index of the entity. A dictionary with keys of another type takes half a million instructions when it is the
  /// first of the process.
  private let known = LockProtected<[Int: [Known]]>(Dictionary())

  /// Returns a statement, made from `sql` the first time; nil if there is none.
  func statement(_ key: Key, _ sql: () throws -> SQLText?) rethrows -> PreparedSQL? {
    if let known = known.withLock({ Self.find(key, in: $0) }) { return known }
    guard let made = try sql().map({ PreparedSQL($0) }) else { return nil }
    return known.withLock { known in
      if let first = Self.find(key, in: known) { return first }
      known[key.entity, default: []].append(Known(key: key, sql: made))
      return made
    }
  }

  private static func find(_ key: Key, in known: [Int: [Known]]) -> PreparedSQL? {
    known[key.entity]?.first { $0.key == key }?.sql
  }
}
