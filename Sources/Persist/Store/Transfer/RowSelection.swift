/// Some rows of a store: those that a copy of a part of the store contains.
package struct RowSelection {
  private let model: ManagedObjectModel
  /// The sorted keys, by index in ``ManagedObjectModel/entities``.
  private(set) var keys: [ContiguousArray<Int64>]

  package init(_ model: ManagedObjectModel) {
    self.model = model
    keys = Array(repeating: [], count: model.entities.count)
  }

  package var count: Int { keys.reduce(0) { $0 + $1.count } }

  /// Adds keys of exactly one entity; those that are there already are ignored.
  package mutating func add(_ more: some Sequence<Int64>, entityIndex: Int) {
    var all = keys[entityIndex]
    all.append(contentsOf: more)
    all.sort()
    var last: Int64?
    all.removeAll { key in
      defer { last = key }
      return key == last
    }
    keys[entityIndex] = all
  }

  /// Whether the selection has a row.
  ///
  /// - Parameter entity: Any entity of the row's hierarchy.
  package func contains(_ key: Int64, inHierarchyOf entity: Entity) -> Bool {
    model.hierarchy(of: entity.root).contains { heir in
      let keys = keys[heir.index]
      let place = keys.partitioningIndex { $0 >= key }
      return place < keys.endIndex && keys[place] == key
    }
  }
}

extension ContiguousArray {
  /// The first index whose element meets a condition that all later elements meet too.
  fileprivate func partitioningIndex(where condition: (Element) -> Bool) -> Int {
    var (start, end) = (startIndex, endIndex)
    while start < end {
      let middle = (start + end) / 2
      if condition(self[middle]) { end = middle } else { start = middle + 1 }
    }
    return start
  }
}

// MARK: Required rows

extension RowSelection {
  private static let sliceSize = 1000

  /// Adds the rows that selected ones can't be valid without: members of their required relationships, and theirs.
  package mutating func addRequired(in source: any PersistentStore) throws {
    let decoder = RowDecoder(model, storeIdentifier: source.identifier) { try source.externalData(named: $0) }
    var new = keys
    while new.contains(where: { !$0.isEmpty }) {
      var found: [Int: Set<Int64>] = Dictionary()
      for entity in model.entities where !new[entity.index].isEmpty {
        let required = entity.properties.filter { $0.relationship?.isRequired == true }
        guard !required.isEmpty else { continue }
        for slice in new[entity.index].slices(of: Self.sliceSize) {
          try collect(required, of: entity, keys: slice, in: source, by: decoder, into: &found)
        }
      }
      new = Array(repeating: [], count: model.entities.count)
      for (root, keys) in found {
        for (index, keys) in try add(keys, inHierarchyOf: model.entities[root], in: source) { new[index] = keys }
      }
    }
  }

  /// Adds the rows with some keys that exist.
  ///
  /// - Returns: Their keys, by index of their own entity.
  @discardableResult
  package mutating func add(
    _ keys: Set<Int64>, inHierarchyOf root: Entity, in source: any PersistentStore
  ) throws -> [Int: ContiguousArray<Int64>] {
    let found = try existing(keys, inHierarchyOf: root, in: source)
    for (index, keys) in found { add(keys, entityIndex: index) }
    return found
  }

  /// Collects the keys of unselected members, by index of the root of their hierarchy.
  private func collect(
    _ required: [Property], of entity: Entity, keys: [Int64], in source: any PersistentStore, by decoder: RowDecoder,
    into found: inout [Int: Set<Int64>]
  ) throws {
    let rows = try source.rows(RowQuery(entity: entity, includesSubentities: false, keys: keys))
    for property in required {
      guard let relationship = property.relationship else { continue }
      let destination = model.destination(of: relationship)
      var members: [Int64] = []
      if relationship.isToMany {
        for key in keys {
          members += try source.related(by: property, of: entity, key: key).compactMap(\.primaryKey)
        }
      } else {
        for row in rows {
          guard let snapshot = row.snapshot,
            case .objectID(let id)? = try decoder.value(of: property, snapshot, of: entity), let key = id.primaryKey
          else { continue }
          members.append(key)
        }
      }
      found[destination.root.index, default: []].formUnion(
        members.filter { !contains($0, inHierarchyOf: destination) })
    }
  }

  /// The keys of rows that exist, by index of their own entity.
  private func existing(
    _ keys: Set<Int64>, inHierarchyOf root: Entity, in source: any PersistentStore
  ) throws -> [Int: ContiguousArray<Int64>] {
    var found: [Int: ContiguousArray<Int64>] = Dictionary()
    for slice in ContiguousArray(keys).slices(of: Self.sliceSize) {
      for row in try source.rows(RowQuery(entity: root, keys: slice, keysOnly: true)) {
        found[row.entityIndex, default: []].append(row.key)
      }
    }
    return found
  }
}

extension RelationshipDescription {
  /// Whether an object is valid only with members.
  package var isRequired: Bool {
    guard !isTransient else { return false }
    return isToMany ? minimumCount > 0 : !isOptional
  }
}

extension ContiguousArray<Int64> {
  /// Consecutive parts of limited length.
  func slices(of size: Int) -> some Sequence<[Int64]> {
    stride(from: 0, to: count, by: size).lazy.map { start in Array(self[start..<Swift.min(start + size, count)]) }
  }
}
