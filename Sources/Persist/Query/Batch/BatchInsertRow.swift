import Foundation

/// A row of a batch insert while it is being filled: values by property, initially the model's defaults.
///
/// ```swift
/// var names = ["Tea", "Coffee"].makeIterator()
/// let request = BatchInsertRequest("Item") { row in
///   guard let name = names.next() else { return false }
///   row["name"] = .string(name)
///   return true
/// }
/// ```
///
/// Each access by name costs a lookup. For millions of rows, get a property's ``Property/slot`` once and set values by
/// it.
public struct BatchInsertRow {
  let entity: Entity
  /// The slots that have been set in the current row.
  private(set) var given: [Int] = []
  /// By property slot.
  private var isGiven: ContiguousArray<Bool>
  /// The values of given slots. Those of other slots are from earlier rows, because most rows set the same slots again.
  private var givenValues: ContiguousArray<StoredValue?>
  private let defaults: ContiguousArray<StoredValue?>

  init(_ entity: Entity) {
    self.entity = entity
    defaults = ContiguousArray(entity.properties.map { $0.attribute?.defaultValue })
    givenValues = defaults
    isGiven = ContiguousArray(repeating: false, count: defaults.count)
    given.reserveCapacity(defaults.count)
  }

  /// The value of a property; nil for none.
  func value(at slot: Int) -> StoredValue? { isGiven[slot] ? givenValues[slot] : defaults[slot] }

  /// Calls a closure with the values in place, since copying a value costs more than binding it.
  @inline(__always)
  func withValues<T>(_ body: (Values) throws -> T) rethrows -> T {
    try isGiven.withUnsafeBufferPointer { isGiven in
      try givenValues.withUnsafeBufferPointer { given in
        try defaults.withUnsafeBufferPointer { try body(Values(isGiven: isGiven, given: given, defaults: $0)) }
      }
    }
  }

  /// The values of a row by slot, valid during ``withValues(_:)``.
  struct Values {
    fileprivate let isGiven: UnsafeBufferPointer<Bool>
    fileprivate let given: UnsafeBufferPointer<StoredValue?>
    fileprivate let defaults: UnsafeBufferPointer<StoredValue?>

    @inline(__always)
    subscript(slot: Int) -> StoredValue? {
      @inline(__always)
      _read { yield isGiven[slot] ? given[slot] : defaults[slot] }
    }
  }

  /// The value of an attribute or of a to-one relationship, by name. An unknown name stops the program; use
  /// ``set(_:forKey:)`` for names from outside.
  public subscript(name: String) -> StoredValue {
    get { entity.property(named: name).flatMap { value(at: $0.slot) } ?? .null }
    set {
      guard let property = entity.property(named: name) else {
        preconditionFailure("'\(entity.name)' has no property '\(name)'.")
      }
      self[slot: property.slot] = newValue
    }
  }

  /// The value of an attribute or of a to-one relationship, by its ``Property/slot``.
  public subscript(slot slot: Int) -> StoredValue {
    get { value(at: slot) ?? .null }
    set {
      if !isGiven[slot] {
        isGiven[slot] = true
        given.append(slot)
      }
      givenValues[slot] = newValue
    }
  }

  /// Sets a value by a name that may be unknown.
  ///
  /// - Throws: ``PersistenceError/Code/unknownProperty``.
  public mutating func set(_ value: StoredValue, forKey name: String) throws {
    self[slot: try slot(forKey: name)] = value
  }

  func slot(forKey name: String) throws -> Int {
    if let property = entity.property(named: name) { return property.slot }
    throw PersistenceError(
      .unknownProperty, at: .property(entity.name, name), "'\(entity.name)' has no property '\(name)'.",
      fix: "Its properties are \(entity.properties.map(\.name).sorted().joined(separator: ", ")).")
  }

  /// Starts the next row: resets every value to its default.
  mutating func begin() {
    for slot in given { isGiven[slot] = false }
    given.removeAll(keepingCapacity: true)
  }
}
