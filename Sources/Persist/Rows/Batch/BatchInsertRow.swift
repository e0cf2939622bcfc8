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
  /// Copied on writing if it is shared with a copy of the row.
  private(set) var values: BatchRowValues

  package init(_ entity: Entity) {
    self.entity = entity
    values = BatchRowValues(entity)
  }

  /// The slots that have been set in the current row.
  package var given: GivenSlots { values.given }

  /// The value of a property; nil for none.
  package func value(at slot: Int) -> StoredValue? { values.value(at: slot) }

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
      makeUnique()
      values.set(newValue, at: slot)
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
  package mutating func begin() {
    makeUnique()
    values.begin()
  }

  @inline(__always)
  private mutating func makeUnique() {
    if !isKnownUniquelyReferenced(&values) { values = BatchRowValues(copying: values) }
  }
}
