import Persist

/// The members of one to-many relationship for rows visited in key order: read for many owners at once, and discarded
/// after the last of them.
struct MemberWindow {
  private let property: Property
  private let entity: Entity
  private let limit: Int
  private var members = RelatedMembers()
  private var owners: ClosedRange<Int64>?

  /// - Parameter limit: The maximum number of members held, except for a single owner that has more.
  init(_ property: Property, of entity: Entity, limit: Int = 20_000) {
    self.property = property
    self.entity = entity
    self.limit = limit
  }

  /// - Parameters:
  ///   - key: The owner's key.
  ///   - last: The last owner of the current batch, `key` or a later one.
  mutating func members(of key: Int64, upTo last: Int64, in store: any PersistentStore) throws -> [ManagedObjectID] {
    if owners?.contains(key) != true {
      members = try store.related(by: property, of: entity, owners: key...max(key, last), limit: limit)
      owners = members.end.map { key...$0 }
      // A single owner may have more members than the limit.
      if owners == nil { return try store.related(by: property, of: entity, key: key) }
    }
    return members.byOwner[key] ?? []
  }
}
