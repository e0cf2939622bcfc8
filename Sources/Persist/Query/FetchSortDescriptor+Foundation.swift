public import Foundation

extension FetchSortDescriptor {
  /// The equivalent of one of Foundation's sort descriptors.
  ///
  /// ```swift
  /// let order = try FetchSortDescriptor(SortDescriptor(\Item.name, order: .reverse))
  /// ```
  ///
  /// The lexical order of texts is ``Comparison/values``.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` for a descriptor without a key path, and for values of a type
  ///   with a custom order, which no store supports.
  public init<Object>(_ descriptor: SortDescriptor<Object>) throws {
    guard let keyPath = descriptor.keyPath else {
      throw Self.untranslated("\(descriptor)", "It has no key path.")
    }
    if let comparator = descriptor.stringComparator {
      guard let comparison = Comparison(comparator) else {
        throw Self.untranslated("\(keyPath)", "Its string comparator is unknown.")
      }
      self.init(keyPath, order: descriptor.order, comparison: comparison)
    } else {
      guard Self.hasPlainOrder(keyPath) else { throw Self.ownOrder(keyPath) }
      self.init(keyPath, order: descriptor.order, comparison: .values)
    }
  }

  /// The equivalent of one of Foundation's comparators of a property.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` for a custom comparator, and for values of a type with a custom
  ///   order, which no store supports.
  public init<Object>(_ comparator: KeyPathComparator<Object>) throws {
    let (keyPath, order) = (comparator.keyPath, comparator.order)
    guard Self.hasPlainOrder(keyPath) else { throw Self.ownOrder(keyPath) }
    let known = KnownComparators(keyPath, order)
    guard let comparison = known.all.first(where: { $0.comparator == comparator })?.comparison else {
      throw Self.untranslated("\(keyPath)", "It uses a custom comparator.")
    }
    self.init(keyPath, order: order, comparison: comparison)
  }

  private init(_ keyPath: AnyKeyPath, order: SortOrder, comparison: Comparison) {
    self.init(KeyPathReference(ofProperties: keyPath), isAscending: order == .forward, comparison: comparison)
  }

  /// Whether the values of a key path are ordered like their stored form.
  private static func hasPlainOrder(_ keyPath: AnyKeyPath) -> Bool {
    let type = plainType(Swift.type(of: keyPath).valueType)
    return type is any BinaryInteger.Type || type is any BinaryFloatingPoint.Type
      || [String.self, Date.self, Decimal.self, UUID.self].contains { $0 == type }
  }

  fileprivate static func plainType(_ type: Any.Type) -> Any.Type {
    (type as? any OptionalValue.Type).map { plainType($0.wrapped) } ?? type
  }

  private static func ownOrder(_ keyPath: AnyKeyPath) -> PersistenceError {
    untranslated("\(keyPath)", "Values of type \(Swift.type(of: keyPath).valueType) have a custom order.")
  }

  private static func untranslated(_ descriptor: String, _ reason: String) -> PersistenceError {
    PersistenceError(
      .invalidRequest, "No store can sort by \(descriptor). \(reason)",
      fix: "Sort by a plain property, or sort the results in memory.")
  }
}

extension FetchSortDescriptor.Comparison {
  /// Nil for a comparator that stores don't support.
  fileprivate init?(_ comparator: String.StandardComparator) {
    var comparator = comparator
    comparator.order = .forward
    guard let known = Self.standard.first(where: { $0.comparator == comparator }) else { return nil }
    self = known.comparison
  }

  fileprivate static var standard: [(comparator: String.StandardComparator, comparison: Self)] {
    #if canImport(Darwin)
      [(.localizedStandard, .localizedStandard), (.localized, .localized), (.lexical, .values)]
    #else
      [(.lexical, .values)]
    #endif
  }
}

/// The comparators of a key path that stores support. A comparator is opaque, but it equals another one that was
/// created in the same way.
private struct KnownComparators<Object> {
  private(set) var all: [(comparator: KeyPathComparator<Object>, comparison: FetchSortDescriptor.Comparison)] = []

  init(_ keyPath: PartialKeyPath<Object>, _ order: SortOrder) {
    for known in FetchSortDescriptor.Comparison.standard {
      add(keyPath, by: known.comparator, order: order, as: known.comparison)
    }
    add(keyPath, by: String.Comparator(options: .caseInsensitive), order: order, as: .caseInsensitive)
    if let type = FetchSortDescriptor.plainType(Swift.type(of: keyPath).valueType) as? any Comparable.Type {
      addPlain(keyPath, of: type, order: order)
    }
  }

  private mutating func addPlain<Value: Comparable>(
    _ keyPath: PartialKeyPath<Object>, of type: Value.Type, order: SortOrder
  ) {
    add(keyPath, by: ComparableComparator<Value>(), order: order, as: .values)
  }

  private mutating func add<Comparator: SortComparator>(
    _ keyPath: PartialKeyPath<Object>, by comparator: Comparator, order: SortOrder,
    as comparison: FetchSortDescriptor.Comparison
  ) {
    typealias Plain = any KeyPath<Object, Comparator.Compared> & Sendable
    typealias Optional = any KeyPath<Object, Comparator.Compared?> & Sendable
    // The key path comes from a comparator, which accepts only Sendable ones.
    switch keyPath {
    case let keyPath as KeyPath<Object, Comparator.Compared>:
      let keyPath = unsafeBitCast(keyPath, to: Plain.self)
      all.append((KeyPathComparator(keyPath, comparator: comparator, order: order), comparison))
    case let keyPath as KeyPath<Object, Comparator.Compared?>:
      let keyPath = unsafeBitCast(keyPath, to: Optional.self)
      all.append((KeyPathComparator(keyPath, comparator: comparator, order: order), comparison))
    default: break
    }
  }
}

private protocol OptionalValue {
  static var wrapped: Any.Type { get }
}

extension Optional: OptionalValue {
  static var wrapped: Any.Type { Wrapped.self }
}
