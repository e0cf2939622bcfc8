/// The rows at the other end of a to-many relationship, for many owners.
package struct RelatedRows: Sendable {
  /// Grouped by owner, in the relationship's order; a row with several owners appears once per owner.
  package var batch: RowBatch
  /// The key of the owner of each row in the batch.
  package var owners: [Int64]

  package init(batch: RowBatch, owners: [Int64]) {
    self.batch = batch
    self.owners = owners
  }

  /// The rows of each owner; owners without rows are absent.
  var rowsByOwner: [Int64: Range<Int>] {
    var found: [Int64: Range<Int>] = Dictionary()
    var start = 0
    while start < owners.count {
      let owner = owners[start]
      let end = owners[start...].firstIndex { $0 != owner } ?? owners.count
      found[owner] = start..<end
      start = end
    }
    return found
  }
}

/// The first rows at the other end of a to-many relationship, for a few owners.
package struct FirstRelatedRows: Sendable {
  /// The maximum number of owners for which a source with cheap statements has one.
  static let maximumOwnerCount = ReadAhead.firstGroupSize

  package var rows: RelatedRows
  /// Whether there are no further ones.
  package let areAll: Bool

  package init(rows: RelatedRows, areAll: Bool) {
    self.rows = rows
    self.areAll = areAll
  }
}

/// The members of a to-many relationship of many rows.
package struct RelatedMembers: Sendable {
  /// By the owner's key; owners without members are absent.
  package var byOwner: [Int64: [ManagedObjectID]] = Dictionary()
  /// The greatest owner whose members are complete; nil if even the first owner has too many.
  package var end: Int64?

  package init(byOwner: [Int64: [ManagedObjectID]] = [:], end: Int64? = nil) {
    self.byOwner = byOwner
    self.end = end
  }
}
