import Persist

/// The part of what is parked in a store that belongs to some of its objects.
///
/// It consists of the parked values of these objects, of the parked objects that pairs connect with them, directly or
/// through other parked objects, and of the pairs among all of these.
struct ParkedSelection {
  /// An object or a parked one, by the table that has its key, or had it.
  private struct Node: Hashable {
    let table: Table
    let key: Int64
  }

  private enum Table: Hashable {
    /// The table of a hierarchy of the model, by the number of its root.
    case present(Int)
    /// That of a hierarchy that the model no longer has, by the name of its root.
    case former(String)
  }

  /// A parked pair, as one of its objects has it.
  private struct Link {
    let other: Node
    /// Whether the object isn't valid without the other one.
    let isRequired: Bool
  }

  /// The tables of a slot's objects; for a relationship those of its owners and of its members.
  private var tables: [Int: [Table]] = [:]
  private var parked: Set<Node> = []
  private let model: ManagedObjectModel
  private var objects: RowSelection

  /// Selects the part that belongs to objects, and adds the objects without which restored ones would be invalid.
  ///
  /// - Parameters:
  ///   - objects: The objects, with those that they require.
  ///   - source: The store.
  ///   - reader: A reader of its parked values.
  init(of objects: inout RowSelection, in source: any PersistentStore, _ reader: ParkedReader) throws {
    (self.objects, model) = (objects, source.model)
    for slot in reader.slots { tables[slot.number] = tables(of: slot, reader.comparisons) }
    let all = try parkedObjects(reader)
    guard !all.isEmpty else { return }
    let links = try links(of: all, reader)
    var required: [Table: Set<Int64>]
    repeat {
      required = select(links, among: all)
      let former = self.objects.count
      for case (.present(let root), let keys) in required {
        try self.objects.add(keys, inHierarchyOf: model.entities[root - 1], in: source)
      }
      if self.objects.count == former { break }
      try self.objects.addRequired(in: source)
    } while !required.isEmpty
    objects = self.objects
  }

  /// Whether a row of a slot belongs to the selection.
  func contains(_ row: [SQLValue], of slot: ParkedSlot) -> Bool {
    nodes(row, of: slot).allSatisfy { parked.contains($0) || isSelected($0) }
  }

  private func isSelected(_ node: Node) -> Bool {
    guard case .present(let root) = node.table else { return false }
    return objects.contains(node.key, inHierarchyOf: model.entities[root - 1])
  }

  // MARK: Tables

  private func tables(of slot: ParkedSlot, _ comparisons: ParkingComparisons) -> [Table] {
    guard let (comparison, entity) = comparisons.subject(of: slot) else {
      // Values of a model that can't be compared remain parked.
      return [model.entitiesByName[slot.entity].map { .present($0.root.number) } ?? .former(slot.entity)]
    }
    func table(_ entity: Entity) -> Table {
      comparison.anyHeir(of: entity.root).map { .present($0.root.number) } ?? .former(entity.root.name)
    }
    guard slot.kind == .relationship, let relationship = entity.relationship(named: slot.property) else {
      return [table(entity)]
    }
    return [table(entity), table(comparison.model.destination(of: relationship))]
  }

  /// The objects that a row is about: one, or the owner and the member of a pair.
  private func nodes(_ row: [SQLValue], of slot: ParkedSlot) -> [Node] {
    zip(tables[slot.number] ?? [], row).compactMap { table, value in
      guard case .integer(let key) = value else { return nil }
      return Node(table: table, key: key)
    }
  }

  // MARK: Parked objects

  private func parkedObjects(_ reader: ParkedReader) throws -> Set<Node> {
    var found: Set<Node> = []
    for slot in reader.slots where slot.kind == .object {
      try reader.forEachRow(of: slot) { found.formUnion(nodes($0, of: slot)) }
    }
    return found
  }

  /// The pairs with parked objects, by each of their ends.
  private func links(of all: Set<Node>, _ reader: ParkedReader) throws -> [Node: [Link]] {
    var found: [Node: [Link]] = [:]
    for slot in reader.slots where slot.kind == .relationship {
      guard let (comparison, entity) = reader.comparisons.subject(of: slot),
        let relationship = entity.relationship(named: slot.property)
      else { continue }
      let inverse = comparison.model.inverse(of: relationship)
      try reader.forEachRow(of: slot) { row in
        let ends = nodes(row, of: slot)
        guard ends.count == 2, ends.contains(where: all.contains) else { return }
        found[ends[0], default: []].append(Link(other: ends[1], isRequired: relationship.isRequired))
        found[ends[1], default: []].append(Link(other: ends[0], isRequired: inverse?.isRequired == true))
      }
    }
    return found
  }

  /// Selects the parked objects beside selected objects, and those that these lead to.
  ///
  /// - Returns: The keys of unselected objects that they require.
  private mutating func select(_ links: [Node: [Link]], among all: Set<Node>) -> [Table: Set<Int64>] {
    var waiting = links.keys.filter { !all.contains($0) && isSelected($0) }
    var required: [Table: Set<Int64>] = [:]
    while let node = waiting.popLast() {
      for link in links[node] ?? [] {
        if all.contains(link.other) {
          if parked.insert(link.other).inserted { waiting.append(link.other) }
        } else if all.contains(node), link.isRequired, !isSelected(link.other) {
          required[link.other.table, default: []].insert(link.other.key)
        }
      }
    }
    return required
  }
}
