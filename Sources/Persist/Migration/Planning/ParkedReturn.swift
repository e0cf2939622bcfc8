/// The parked values that a migration restores and that checks of rows must take into account.
struct ParkedReturn: Sendable {
  /// The parked objects of one entity.
  struct Objects: Sendable {
    let slot: Int
    /// The entity that they become.
    let entity: String
    /// The slots of their parked values, by the columns of the new layout.
    let values: [String: Int]
  }

  /// A property of the new model: a relationship by the entity that declares it, an attribute by the exact entity.
  struct Property: Sendable, Hashable {
    let entity: String
    let name: String
  }

  var objects: [Objects] = []
  /// The slots of parked values.
  var values: [Property: [ParkedSlot]] = [:]
  /// The slots of parked pairs, whose owners are objects with the relationship.
  var pairs: [Property: [Int]] = [:]
}
