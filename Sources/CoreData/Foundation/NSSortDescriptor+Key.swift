public import Foundation
import Persist

extension NSSortDescriptor {
  /// Creates a descriptor that sorts by the value of a key or key path.
  public convenience init(key: String?, ascending: Bool) {
    self.init(creating: { unsafeDowncast(KeySortDescriptor(key ?? "self", ascending), to: Self.self) })
  }

  /// - Parameter selector: One of Foundation's comparisons of strings, or `compare:`; others stop the program when a
  ///   request uses the descriptor.
  public convenience init(key: String?, ascending: Bool, selector: Selector?) {
    self.init(creating: {
      unsafeDowncast(KeySortDescriptor(key ?? "self", ascending, selector?.description), to: Self.self)
    })
  }

  /// Creates a descriptor that sorts by the value of a managed object's property.
  public convenience init<Root: NSManagedObject, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
    self.init(keyPath: keyPath, ascending: ascending) { KeySortDescriptor.order(of: $0, $1) }
  }

  /// Creates a sort descriptor for the property that a generic key path leads to.
  @_disfavoredOverload
  public convenience init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
    self.init(keyPath: keyPath, ascending: ascending) { KeySortDescriptor.order(of: $0, $1) }
  }

  /// Creates a descriptor that sorts by the value of a managed object's property.
  public convenience init<Root: NSManagedObject, Value: Comparable>(
    keyPath: KeyPath<Root, Value>, ascending: Bool
  ) {
    self.init(keyPath: keyPath, ascending: ascending) { KeySortDescriptor.order(of: $0, $1) }
  }

  /// The key or key path. For a descriptor that was made from a key path of Swift's, it is nil until a model with the
  /// class is in use.
  public var key: String? { (self as? KeySortDescriptor)?.sortKey ?? KeyPathNames.path(of: keyPath) }

  func fetchSortDescriptor() throws -> FetchSortDescriptor {
    if let own = self as? KeySortDescriptor { return try own.descriptor() }
    return FetchSortDescriptor(KeyPathReference(ofProperties: keyPath), isAscending: ascending)
  }
}

/// A sort descriptor with a key.
final class KeySortDescriptor: NSSortDescriptor {
  let sortKey: String
  private let selector: String?

  init(_ key: String, _ ascending: Bool, _ selector: String? = nil) {
    sortKey = key
    self.selector = selector
    super.init(keyPath: \NSObject.hash, ascending: ascending) { left, right in
      KeySortDescriptor.compare(left, to: right, by: key, selector: selector)
    }
  }

  required init?(coder: NSCoder) { nil }

  func descriptor() throws -> FetchSortDescriptor {
    guard let selector else { return FetchSortDescriptor(sortKey, isAscending: ascending) }
    let name = selector.hasPrefix("localized") || selector.hasPrefix("caseInsensitive") ? selector : "compare:"
    guard let comparison = FetchSortDescriptor.Comparison(rawValue: name) else {
      throw PersistenceError(
        .invalidRequest, "No store can sort by '\(selector)'.",
        fix: "Use one of \(FetchSortDescriptor.Comparison.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
    return FetchSortDescriptor(sortKey, isAscending: ascending, comparison: comparison)
  }

  override var reversedSortDescriptor: Any { KeySortDescriptor(sortKey, !ascending, selector) }
  override func copy(with zone: NSZone? = nil) -> Any { self }

  override func compare(_ left: Any, to right: Any) -> ComparisonResult {
    let result = Self.compare(left, to: right, by: sortKey, selector: selector)
    guard !ascending else { return result }
    return ComparisonResult(rawValue: -result.rawValue) ?? .orderedSame
  }

  override func isEqual(_ other: Any?) -> Bool {
    guard let other = other as? KeySortDescriptor else { return false }
    return other.sortKey == sortKey && other.ascending == ascending && other.selector == selector
  }

  override var hash: Int { sortKey.hashValue }

  private static func compare(_ left: Any, to right: Any, by key: String, selector: String?) -> ComparisonResult {
    order(of: value(left, key), value(right, key), selector)
  }

  /// Orders values as stores do: missing ones first.
  static func order(of left: Any?, _ right: Any?, _ selector: String? = nil) -> ComparisonResult {
    switch (left.flatMap(present), right.flatMap(present)) {
    case (nil, nil): .orderedSame
    case (nil, _): .orderedAscending
    case (_, nil): .orderedDescending
    case (let left as String, let right as String):
      switch selector.flatMap(FetchSortDescriptor.Comparison.init(rawValue:)) {
      case .caseInsensitive: left.caseInsensitiveCompare(right)
      case .localized: left.compare(right, locale: .current)
      case .localizedCaseInsensitive: left.compare(right, options: .caseInsensitive, locale: .current)
      case .localizedStandard: left.compare(right, options: [.caseInsensitive, .numeric], locale: .current)
      case .values, nil: left.compare(right)
      }
    case (let left as NSNumber, let right as NSNumber): left.compare(right)
    case (let left as Date, let right as Date): left.compare(right)
    case (let left as any Comparable, let right?): order(left, right)
    default: .orderedSame
    }
  }

  /// An optional's value.
  private static func present(_ value: Any) -> Any? {
    (value as? any OptionalManagedValue).map(\.wrapped) ?? value
  }

  private static func order<Value: Comparable>(_ left: Value, _ right: Any) -> ComparisonResult {
    guard let right = right as? Value, left != right else { return .orderedSame }
    return left < right ? .orderedAscending : .orderedDescending
  }

  private static func value(_ object: Any, _ key: String) -> Any? {
    if key == "self" { return object }
    if let object = object as? NSManagedObject { return object.value(forKeyPath: key) }
    return (object as? [String: Any])?[key]
  }
}

extension NSArray {
  /// Returns the objects in the order of descriptors with keys.
  func sorted(using descriptors: [NSSortDescriptor]) -> [Any] {
    Array(self).sorted { left, right in
      for descriptor in descriptors {
        switch descriptor.compare(left, to: right) {
        case .orderedAscending: return true
        case .orderedDescending: return false
        case .orderedSame: continue
        }
      }
      return false
    }
  }
}
