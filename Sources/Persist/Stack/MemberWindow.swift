/// The members of one to-many relationship for rows that are walked through in order of key: read for many owners at
/// once, and forgotten when the walk is past them.
struct MemberWindow {
  private let property: Property
  private let entity: Entity
  private let limit: Int
  private var members = SQLiteStore.Members()
  private var owners: ClosedRange<Int64>?

  /// - Parameter limit: how many members are held at most, but for an owner that has more alone.
  init(_ property: Property, of entity: Entity, limit: Int = 20_000) {
    self.property = property
    self.entity = entity
    self.limit = limit
  }

  /// - Parameters:
  ///   - key: an owner.
  ///   - last: the last owner of the current batch, `key` or one after it.
  mutating func members(of key: Int64, upTo last: Int64, in store: SQLiteStore) throws -> [ManagedObjectID] {
    if owners?.contains(key) != true {
      members = try store.related(by: property, of: entity, owners: key...max(key, last), limit: limit)
      owners = members.end.map { key...$0 }
      // One owner alone may have more members than are read at once.
      if owners == nil { return try store.related(by: property, of: entity, key: key) }
    }
    return members.byOwner[key] ?? []
  }
}
