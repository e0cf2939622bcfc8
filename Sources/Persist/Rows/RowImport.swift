/// A slice of rows to import: with their keys, and with the members of their to-many relationships.
///
/// A row may refer to any other row of the import, in whatever slice.
package struct ImportSlice: Sendable {
  /// The members of one to-many relationship.
  package struct Members: Sendable {
    /// The slot of the relationship.
    package let slot: Int
    /// The keys of the members; in order if the relationship is ordered.
    package let keys: [Int64]

    package init(slot: Int, keys: [Int64]) {
      self.slot = slot
      self.keys = keys
    }
  }

  /// The rows; permanent keys are preserved, temporary ones replaced by the next free key.
  package var inserts: [RowWrites.Insert] = []
  /// The to-many relationships of each row that its source describes, in the order of ``inserts``.
  ///
  /// If the inverse is to-one, the members' own rows determine the members, and these have to agree.
  package var members: [[Members]] = []

  package init() {}
}
