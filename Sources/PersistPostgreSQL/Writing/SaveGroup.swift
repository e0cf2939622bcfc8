import Persist

/// Saves that are written together, as one save of all their rows.
///
/// They change different rows, so that each may be the one that others have overtaken.
struct SaveGroup {
  /// The rows of all saves, those of equal statements next to each other.
  private(set) var writes = RowWrites()
  /// The number of rows that each save inserts.
  private let insertCounts: [Int]
  /// The place in ``writes`` of each inserted row, save by save.
  private var places: [Int]

  /// The number of rows above which a save is written alone: its statements weigh more than its round trip.
  private static let maximumRowsOfSave = 100
  /// The number of rows of a group.
  private static let maximumRows = 1000

  init(_ saves: [RowWrites]) {
    let inserts = saves.flatMap(\.inserts)
    let order = inserts.indices.sorted { (inserts[$0].entity.number, $0) < (inserts[$1].entity.number, $1) }
    insertCounts = saves.map(\.inserts.count)
    places = Array(repeating: 0, count: order.count)
    for (place, index) in order.enumerated() { places[index] = place }
    writes.inserts = order.map { inserts[$0] }
    let updates = saves.flatMap(\.updates)
    writes.updates = updates.indices.sorted { first, second in
      let (a, b) = (updates[first], updates[second])
      if a.entity !== b.entity { return a.entity.number < b.entity.number }
      return a.slots == b.slots ? first < second : a.slots.lexicographicallyPrecedes(b.slots)
    }.map { updates[$0] }
    writes.deletes = saves.flatMap(\.deletes)
  }

  /// The results of the saves, in order.
  func receipts(_ receipt: CommitReceipt) -> [CommitReceipt] {
    var start = 0
    return insertCounts.map { count in
      defer { start += count }
      return CommitReceipt(insertedKeys: places[start..<start + count].map { receipt.insertedKeys[$0] })
    }
  }

  /// Takes the saves that fit into a group with the first one out of a queue.
  static func take<Save>(from queue: inout [Save], _ writes: (Save) -> RowWrites) -> [Save] {
    var rows = Set<Row>()
    var group: [Save] = []
    queue.removeAll { save in
      let own = writes(save).changedRows
      guard rows.count + own.count <= maximumRows, rows.isDisjoint(with: own) else { return false }
      rows.formUnion(own)
      group.append(save)
      return true
    }
    return group
  }

  /// A row of the store: keys are unique within a hierarchy.
  fileprivate struct Row: Hashable {
    let root: Int
    let key: ManagedObjectID.Key

    init(_ entity: Entity, _ key: ManagedObjectID.Key) { (root, self.key) = (entity.root.number, key) }
  }

  /// Whether a save may be part of a group.
  static func allows(_ save: RowWrites) -> Bool {
    save.touches.isEmpty && save.checks.isEmpty && save.links.isEmpty && save.orderings.isEmpty && save.endings.isEmpty
      && save.inserts.count + save.updates.count + save.deletes.count <= maximumRowsOfSave
  }
}

extension RowWrites {
  fileprivate var changedRows: [SaveGroup.Row] {
    inserts.map { .init($0.entity, $0.key) } + updates.map { .init($0.entity, $0.key) }
      + deletes.map { .init($0.entity, $0.key) }
  }

  /// Whether a conflict is about one of the rows.
  func has(_ conflict: RowConflict) -> Bool {
    let row = SaveGroup.Row(conflict.entity, conflict.id.key)
    return changedRows.contains(row)
  }
}
