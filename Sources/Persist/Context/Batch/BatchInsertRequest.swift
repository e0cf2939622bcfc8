/// Inserts rows as they come, without objects being made: one transaction, and memory for one row.
///
/// A row that has a required attribute without a value or default fails the whole batch; other rules of the model
/// aren't checked. Where a row's unique values are taken, the context's merge policy says whether the batch fails, the
/// stored row stays, or it takes the new values. A policy with a resolver of the program's own fails it as
/// ``MergePolicy/error`` does: there are no objects that could be settled.
///
/// ```swift
/// let cars = BatchInsertRequest("Car", [["numberPlate": "1", "maker": "FIAT"], ["numberPlate": "2"]])
/// try context.execute(cars).count                     // 2
/// ```
///
/// Not Sendable: it holds what makes the rows, and so serves once.
public struct BatchInsertRequest {
  /// The entity whose rows are inserted: one that isn't abstract.
  public let entityName: String
  /// What the batch tells of its rows: how many they are, unless set otherwise.
  public var resultType = BatchInsertRequestResultType.count
  /// The identifier of the store that gets the rows; nil for the one that new objects go to.
  public var affectedStoreIdentifier: String?
  let next: (inout BatchInsertRow) throws -> Bool

  /// Rows that a closure fills, one per call, until it returns false.
  ///
  /// The fastest form. The closure mustn't use a context of the same store: the store is being written.
  public init(_ entityName: String, filling next: @escaping (inout BatchInsertRow) throws -> Bool) {
    self.entityName = entityName
    self.next = next
  }

  /// Rows from dictionaries of values by the names of properties, as ``ManagedObject/setValue(_:forKey:)`` takes them.
  ///
  /// - Parameter rows: any sequence; it is walked through once.
  public init(_ entityName: String, _ rows: some Sequence<[String: Any?]>) {
    var iterator = rows.makeIterator()
    self.init(entityName) { row in
      guard let values = iterator.next() else { return false }
      try row.set(values)
      return true
    }
  }

  /// Rows from dictionaries that a closure fills, one per call, until it returns true, as Core Data has it.
  public init(_ entityName: String, dictionaryHandler: @escaping (inout [String: Any?]) throws -> Bool) {
    self.init(entityName) { row in
      var values: [String: Any?] = [:]
      if try dictionaryHandler(&values) { return false }
      try row.set(values)
      return true
    }
  }
}

extension BatchInsertRow {
  /// Sets values by names, as a managed object takes them.
  ///
  /// - Throws: ``PersistenceError/Code/unknownProperty``, ``PersistenceError/Code/typeMismatch``.
  public mutating func set(_ values: [String: Any?]) throws {
    for (name, value) in values { self[slot: try slot(forKey: name)] = try stored(value, forKey: name) }
  }

  private func stored(_ value: Any?, forKey name: String) throws -> StoredValue {
    guard let value, let property = entity.property(named: name) else { return .null }
    let place = PersistenceError.Place.property(entity.name, name)
    if let attribute = property.attribute {
      // The common cases before the conversion that looks into optionals and Foundation's classes.
      if let plain = DynamicValue.stored(value, as: attribute.type) { return plain }
      let conversion = ValueConversion(attribute, at: place)
      return attribute.type == .composite
        ? try conversion.stored(value, elements: property.elements) : try conversion.stored(value)
    }
    switch value {
    case let stored as StoredValue: return stored
    case let id as ManagedObjectID: return .objectID(id)
    case let object as ManagedObject: return .objectID(object.objectID)
    default:
      throw PersistenceError(
        .typeMismatch, at: place, "'\(name)' takes an object's identifier, not a \(type(of: value)).")
    }
  }
}
