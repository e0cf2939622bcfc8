import Foundation

/// A predicate without the values with which it compares paths.
///
/// Predicates of the same shape have the same translation, except for the values bound to it: `quantity < 5` and
/// `quantity < 7`. All other constants are part of the shape, because the form of the SQL may depend on them.
package struct PredicateShape: Hashable {
  private let predicate: FetchPredicate

  package init(_ predicate: FetchPredicate) { self.predicate = predicate }

  package static func == (left: PredicateShape, right: PredicateShape) -> Bool {
    areAlike(left.predicate, right.predicate)
  }

  package func hash(into hasher: inout Hasher) { Self.hash(predicate, into: &hasher) }

  /// The values of the parameters, in order.
  package var parameters: [SQLValue] {
    var values: [SQLValue] = []
    predicate.forEachComparison { comparison in
      if let parameter = comparison.parameter { values.append(parameter.value) }
    }
    return values
  }

  /// The predicate with a mark in place of each parameter: a value of the same kind that no predicate contains.
  package var marked: (predicate: FetchPredicate, marks: [SQLValue]) {
    var marks: [SQLValue] = []
    return (Self.marked(predicate, &marks), marks)
  }

  /// Whether the translation of the same predicate is always the same and worth caching: it contains neither the
  /// current time, nor objects without a row, which may have one next time, nor a long list, which would take too much
  /// memory.
  package var isRepeatable: Bool {
    !predicate.sides.contains(where: Self.isUnique)
  }

  private static func isUnique(_ expression: FetchExpression) -> Bool {
    switch expression {
    case .function(.now, _): true
    case .constant(.objectID(let id)): id.isTemporaryID
    case .aggregate(let parts) where parts.count > 100: true
    default: expression.parts.contains(where: isUnique)
    }
  }

  private static func areAlike(_ left: FetchPredicate, _ right: FetchPredicate) -> Bool {
    switch (left, right) {
    case (.and(let left), .and(let right)), (.or(let left), .or(let right)):
      left.count == right.count && zip(left, right).allSatisfy(areAlike)
    case (.not(let left), .not(let right)): areAlike(left, right)
    case (.comparison(let left), .comparison(let right)):
      if let one = left.parameter, let other = right.parameter {
        one.kind == other.kind && left.operation == right.operation && left.left == right.left
      } else {
        left == right
      }
    default: left == right
    }
  }

  private static func hash(_ predicate: FetchPredicate, into hasher: inout Hasher) {
    switch predicate {
    case .constant(let value): hasher.combine(value)
    case .and(let parts), .or(let parts):
      hasher.combine(parts.count)
      for part in parts { hash(part, into: &hasher) }
    case .not(let part): hash(part, into: &hasher)
    case .comparison(let comparison):
      guard let parameter = comparison.parameter else { return hasher.combine(comparison) }
      hasher.combine(comparison.left)
      hasher.combine(comparison.operation)
      hasher.combine(parameter.kind)
    }
  }

  private static func marked(_ predicate: FetchPredicate, _ marks: inout [SQLValue]) -> FetchPredicate {
    switch predicate {
    case .constant: return predicate
    case .and(let parts): return .and(parts.map { marked($0, &marks) })
    case .or(let parts): return .or(parts.map { marked($0, &marks) })
    case .not(let part): return .not(marked(part, &marks))
    case .comparison(var comparison):
      guard let parameter = comparison.parameter else { return predicate }
      let mark = parameter.kind.mark(marks.count)
      comparison.right = .constant(mark.constant)
      marks.append(mark.value)
      return .comparison(comparison)
    }
  }
}

extension FetchPredicate.Comparison {
  /// A constant that SQL compares unchanged.
  fileprivate struct Parameter {
    enum Kind: Hashable {
      case integer, double, date, text, uuid
      /// A row: the translation depends on its store and its entity.
      case row(entity: String, store: String)
    }

    let kind: Kind
    let value: SQLValue
  }

  /// The right side, if it is a constant compared with the value of a path; nil if the constant affects more than one
  /// bound value.
  fileprivate var parameter: Parameter? {
    guard modifier == .direct, options.isEmpty, operation.isPlain, case .constant(let constant) = right else {
      return nil
    }
    switch left {
    case .path(of: .current, let keys) where !keys.contains { $0.utf8.first == UInt8(ascii: "@") }: break
    case .current: break
    default: return nil
    }
    switch constant {
    case .integer(let value): return Parameter(kind: .integer, value: .integer(value))
    case .double(let value) where !value.isNaN: return Parameter(kind: .double, value: .double(value))
    case .date(let date) where !date.timeIntervalSinceReferenceDate.isNaN:
      return Parameter(kind: .date, value: .double(date.timeIntervalSinceReferenceDate))
    case .string(let text): return Parameter(kind: .text, value: .text(text))
    case .uuid(let uuid): return Parameter(kind: .uuid, value: .blob(uuid.data))
    case .objectID(let id):
      guard let key = id.primaryKey else { return nil }
      return Parameter(kind: .row(entity: id.entityName, store: id.storeIdentifier), value: .integer(key))
    default: return nil
    }
  }
}

extension FetchPredicate.Operator {
  fileprivate var isPlain: Bool {
    switch self {
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: true
    default: false
    }
  }
}

extension FetchPredicate.Comparison.Parameter.Kind {
  /// The value of a parameter's place, and its form in SQL.
  fileprivate func mark(_ index: Int) -> (constant: StoredValue, value: SQLValue) {
    let number = UInt64(index)
    switch self {
    case .integer:
      let mark = Int64(bitPattern: 0x5EED_0F5E_ED00_0000 + number)
      return (.integer(mark), .integer(mark))
    case .double:
      let mark = Double(bitPattern: 0x3FB5_EED5_EED0_0000 + number)
      return (.double(mark), .double(mark))
    case .date:
      let mark = Double(bitPattern: 0x3FC5_EED5_EED0_0000 + number)
      return (.date(Date(timeIntervalSinceReferenceDate: mark)), .double(mark))
    case .text:
      let mark = "\u{1}parameter \(index)"
      return (.string(mark), .text(mark))
    case .uuid:
      var bytes = UUID(uuid: (0x5E, 0xED, 0x0F, 0x5E, 0xED, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0)).uuid
      (bytes.14, bytes.15) = (UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number))
      return (.uuid(UUID(uuid: bytes)), .blob(UUID(uuid: bytes).data))
    case .row(let entity, let store):
      let mark = Int64(bitPattern: 0x5EED_0F5E_ED00_0000 + number)
      let id = ManagedObjectID(entityName: entity, storeIdentifier: store, key: .permanent(mark))
      return (.objectID(id), .integer(mark))
    }
  }
}
