/// A count of rows that determines whether a migration can run, or what it destroys.
package indirect enum RowCount: Sendable, Equatable {
  /// Rows of a table.
  case rows(String, RowCondition)
  /// Rows with an entity number other than these, or without one.
  case unknown(String, entityNumbers: [Int])
  /// Rows with a non-null value in a column.
  case present(String, column: String, RowCondition)
  /// Rows whose value is outside an integer range or isn't an integer.
  case outside(ClosedRange<Int64>, String, column: String, RowCondition)
  /// Rows whose value is stored in a file beside the store that is missing.
  case missingFiles(String, column: String, RowCondition)
  /// Rows whose text isn't a URI.
  case otherThanURIs(String, column: String, RowCondition)
  /// Duplicate rows beyond the first, judged by the values of all columns; null equals nothing.
  case duplicates(String, values: [RowExpression], RowCondition)
  /// Pairs of a relationship.
  case related(PairRows)
  /// Owners with more than one member.
  case crowded(PairRows)
  /// Owners with different members in the two relationships.
  case conflicting(PairRows, PairRows)
  /// Pairs of the first relationship that aren't in any of the others.
  case unmatched(PairRows, [PairRows])
  /// Rows that aren't owners in any of the relationships, nor in parked pairs.
  case unrelated(String, RowCondition, [PairRows], parked: ParkedPairRows?)
  /// Rows of a table that isn't the model's, or groups of rows, that violate a rule after entities are renumbered.
  ///
  /// `gone` are the entity numbers whose rows are deleted before.
  case rejectedNumbers(EntityRenumbering, by: EntityNumberRule, gone: [Int])
  /// Rows that have no parked value in any of the slots.
  case unparked(String, RowCondition, slots: [ParkedSlot])
  /// Parked values that are outside an integer range or aren't integers.
  case parkedOutside(ClosedRange<Int64>, slot: ParkedSlot)
  /// Parked objects with the same values as a row; null equals nothing. Each value of a parked object is in a slot.
  case parkedDuplicates(slot: Int, valueSlots: [Int], of: String, values: [RowExpression], RowCondition)
}

/// The parked pairs of a relationship that a migration restores.
package struct ParkedPairRows: Sendable, Equatable {
  package let slots: [Int]
  /// The rows that can be members, by table.
  package let members: [PairEnd]
  /// The numbers of the parked slots whose objects can be members.
  package let parkedMembers: [Int]

  package init(slots: [Int], members: [PairEnd], parkedMembers: [Int]) {
    self.slots = slots
    self.members = members
    self.parkedMembers = parkedMembers
  }
}

/// The pairs of a relationship between rows of some entities.
package struct PairRows: Sendable, Hashable {
  package let pairs: PairSource
  package let owners: PairEnd
  package let members: PairEnd

  package init(pairs: PairSource, owners: PairEnd, members: PairEnd) {
    self.pairs = pairs
    self.owners = owners
    self.members = members
  }

  /// The same pairs seen from the other end.
  var turned: PairRows { PairRows(pairs: pairs.turned, owners: members, members: owners) }
}
