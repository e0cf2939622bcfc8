extension PrefetchPass {
  /// The number of owners from which members are read in groups.
  static let minimumOwnerCount = 1000
  /// The number of owners in the first group, which tells how many members they have.
  private static let firstGroupSize = 200
  /// The number of rows in a group that another thread reads; reading them takes a few milliseconds.
  private static let rowsPerGroup = 4000

  /// Returns the members of many owners, of which another thread is still reading most, so that the program can use
  /// the first ones meanwhile. Returns nil if they can only be read together.
  ///
  /// - Throws: The errors of reading the first members.
  func arrivingMembers(
    _ relationship: Property, of entity: Entity, owners: [Int64], in tables: StoreTables,
    _ origin: PrefetchedMembers.Origin
  ) throws -> ArrivingMembers? {
    // A context that reads elsewhere has no second connection for another thread. An error of holding a state is thrown
    // when the members are read together, if it occurs again.
    guard owners.count >= Self.minimumOwnerCount, tables.store === tables.origin, tables.store.readsConcurrently,
      let generation = try? tables.origin.generation()
    else { return nil }
    let groups = OwnerGroups(of: owners, relationship, entity, in: generation)
    let first = try groups.read(Self.firstGroupSize)
    let averageCount = Double(first.rows.owners.count) / Double(first.owners.count)
    guard Double(groups.rest.count) * averageCount > Double(Self.rowsPerGroup) else {
      return ArrivingMembers([first, try groups.read(groups.rest.count)], nil, from: origin, readWith: rows)
    }
    let size = max(1, Int(Double(Self.rowsPerGroup) / averageCount))
    let rest = Pipeline.started(on: context.persistentStoreCoordinator.threads.reading) {
      (part: try groups.read(size), isLast: groups.rest.isEmpty)
    }
    return ArrivingMembers([first], rest, from: origin, readWith: rows)
  }

  /// The owners whose members are still to be read from one state of a store. Used by one thread at a time.
  private final class OwnerGroups {
    private(set) var rest: ArraySlice<Int64>
    private let relationship: Property
    private let entity: Entity
    /// Released with the last group, because writers can't shorten the store's log before.
    private var generation: (any StoreGeneration)?

    init(of owners: [Int64], _ relationship: Property, _ entity: Entity, in generation: any StoreGeneration) {
      (rest, self.relationship, self.entity, self.generation) = (owners[...], relationship, entity, generation)
    }

    /// Reads the members of the next owners.
    func read(_ count: Int) throws -> ArrivingMembers.Part {
      let owners = rest.prefix(count)
      rest = rest.dropFirst(count)
      defer { if rest.isEmpty { generation = nil } }
      guard let generation, !owners.isEmpty else {
        return ArrivingMembers.Part(owners: [], rows: RelatedRows(batch: RowBatch(), owners: []))
      }
      let rows = try generation.rows.relatedRows(by: relationship, of: entity, owners: Array(owners))
      return ArrivingMembers.Part(owners: owners, rows: rows)
    }
  }
}
