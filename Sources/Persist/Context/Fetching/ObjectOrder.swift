import Foundation

/// An order of objects by attributes: the same that SQLite gives their rows.
struct ObjectOrder {
  private let levels: [(slot: Int, isAscending: Bool)]

  /// - Throws: ``PersistError/Code/unknownProperty`` where a key isn't a stored attribute that has an order.
  init(_ descriptors: [FetchRequest.SortDescriptor], of layout: EntityLayout) throws {
    levels = try descriptors.map { descriptor in
      guard let property = layout.entity.property(named: descriptor.key), let attribute = property.attribute,
        !attribute.isTransient, attribute.type != .composite
      else {
        throw PersistError(
          .unknownProperty, at: .property(layout.entity.name, descriptor.key),
          "'\(layout.entity.name)' can't be sorted by '\(descriptor.key)'.",
          fix: "Sort by a stored attribute of the entity.")
      }
      return (property.slot, descriptor.isAscending)
    }
  }

  var isEmpty: Bool { levels.isEmpty }

  func sorted(_ objects: [ManagedObject]) -> [ManagedObject] {
    isEmpty ? objects : objects.sorted(by: isAscending)
  }

  /// Whether `left` comes before `right`. Saved objects that are equal come by key, new ones after them.
  func isAscending(_ left: ManagedObject, _ right: ManagedObject) -> Bool {
    for (slot, isAscending) in levels {
      let order = Self.compare(left.presentValue(at: slot), right.presentValue(at: slot))
      if order != 0 { return (order < 0) == isAscending }
    }
    switch (left.change == .inserted, right.change == .inserted) {
    case (false, true): return true
    case (true, false): return false
    default: return left.table === right.table && left.key < right.key
    }
  }

  /// Negative where `left` comes first, 0 for equal ones. No value comes first; texts compare by their UTF-8 bytes.
  static func compare(_ left: StoredValue, _ right: StoredValue) -> Int {
    switch (left, right) {
    case (.null, .null): 0
    case (.null, _): -1
    case (_, .null): 1
    case (.integer(let left), .integer(let right)): sign(left, right)
    case (.boolean(let left), .boolean(let right)): sign(left ? 1 : 0, right ? 1 : 0)
    case (.double(let left), .double(let right)): sign(left, right)
    case (.decimal(let left), .decimal(let right)): sign(left, right)
    case (.date(let left), .date(let right)): sign(left, right)
    case (.string(let left), .string(let right)), (.uri(let left), .uri(let right)):
      left.utf8.elementsEqual(right.utf8) ? 0 : (left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1)
    case (.data(let left), .data(let right)):
      left == right ? 0 : (left.lexicographicallyPrecedes(right) ? -1 : 1)
    case (.uuid(let left), .uuid(let right)):
      compare(
        .data(withUnsafeBytes(of: left.uuid) { Data($0) }), .data(withUnsafeBytes(of: right.uuid) { Data($0) }))
    default: 0
    }
  }

  private static func sign<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
    left < right ? -1 : (right < left ? 1 : 0)
  }
}
