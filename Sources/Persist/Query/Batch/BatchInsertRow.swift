import Foundation

/// A row of a batch insert while it is filled: values by property, the model's defaults until they are set.
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
/// Names cost a look-up each. Where millions of rows come, ask for a property's ``Property/slot`` once and set by it.
public struct BatchInsertRow {
  let entity: Entity
  /// By property slot.
  private(set) var values: ContiguousArray<StoredValue?>
  /// The slots that were set since the row began.
  private(set) var given: [Int] = []
  private let defaults: ContiguousArray<StoredValue?>

  init(_ entity: Entity) {
    self.entity = entity
    defaults = ContiguousArray(entity.properties.map { $0.attribute?.defaultValue })
    values = defaults
    given.reserveCapacity(values.count)
  }

  /// The value of an attribute or of a to-one relationship, by its name. Another name stops the program; for names from
  /// outside there is ``set(_:forKey:)``.
  public subscript(name: String) -> StoredValue {
    get { entity.property(named: name).flatMap { values[$0.slot] } ?? .null }
    set {
      guard let property = entity.property(named: name) else {
        preconditionFailure("'\(entity.name)' has no property '\(name)'.")
      }
      self[slot: property.slot] = newValue
    }
  }

  /// The value of an attribute or of a to-one relationship, by its ``Property/slot``.
  public subscript(slot slot: Int) -> StoredValue {
    get { values[slot] ?? .null }
    set {
      if !given.contains(slot) { given.append(slot) }
      values[slot] = newValue
    }
  }

  /// Sets a value by a name that may be wrong.
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

  /// Makes it the next row: every value is the default again.
  mutating func begin() {
    for slot in given { values[slot] = defaults[slot] }
    given.removeAll(keepingCapacity: true)
  }
}
