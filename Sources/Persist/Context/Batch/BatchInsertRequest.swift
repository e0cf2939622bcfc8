/// Inserts rows as they are supplied, without creating objects: in one transaction, with memory for one row.
///
/// A row without a value or default for a required attribute fails the whole batch; other rules of the model aren't
/// checked. If a row's unique values already exist, the context's merge policy decides whether the batch fails, the
/// stored row is kept, or it gets the new values. A policy with a custom resolver fails the batch like
/// ``MergePolicy/error``, because there are no objects to resolve.
///
/// ```swift
/// let cars = BatchInsertRequest("Car", [["numberPlate": "1", "maker": "FIAT"], ["numberPlate": "2"]])
/// try context.execute(cars).count                     // 2
/// ```
///
/// Not Sendable: it holds the source of the rows, and so can be executed only once.
public struct BatchInsertRequest {
  /// The name of the entity to insert rows of, which isn't abstract.
  public let entityName: String
  /// The contents of the batch's result; by default, the number of rows.
  public var resultType = BatchInsertRequestResultType.count
  /// The identifier of the store to insert into; nil for the default store for new objects.
  public var affectedStoreIdentifier: String?
  let next: (inout BatchInsertRow) throws -> Bool

  /// Creates a request for rows filled by a closure, one per call, until it returns false.
  ///
  /// This is the fastest form. The closure must not use a context of the same store, because the store is being
  /// written.
  public init(_ entityName: String, filling next: @escaping (inout BatchInsertRow) throws -> Bool) {
    self.entityName = entityName
    self.next = next
  }

  /// Creates a request for rows given as dictionaries of values by property name, as in
  /// ``RedeclarableMembers/setValue(_:forKey:)``.
  ///
  /// - Parameters:
  ///   - entityName: The name of the entity of the new rows.
  ///   - rows: Any sequence, which is iterated once.
  public init(_ entityName: String, _ rows: some Sequence<[String: Any?]>) {
    var iterator = rows.makeIterator()
    self.init(entityName) { row in
      guard let values = iterator.next() else { return false }
      try row.set(values)
      return true
    }
  }

  /// Creates a request for rows given as dictionaries, with the labels of Core Data.
  public init(entityName: String, objects: some Sequence<[String: Any?]>) { self.init(entityName, objects) }

  /// Creates a request for rows given as dictionaries that a closure fills, with the labels of Core Data.
  public init(entityName: String, dictionaryHandler: @escaping (inout [String: Any?]) throws -> Bool) {
    self.init(entityName, dictionaryHandler: dictionaryHandler)
  }

  /// Creates a request for rows given as dictionaries that a closure fills, one per call, until it returns true, as in
  /// Core Data.
  public init(_ entityName: String, dictionaryHandler: @escaping (inout [String: Any?]) throws -> Bool) {
    self.init(entityName) { row in
      var values: [String: Any?] = Dictionary()
      if try dictionaryHandler(&values) { return false }
      try row.set(values)
      return true
    }
  }
}

extension BatchInsertRow {
  /// Sets values by property name, converting them like a managed object does.
  ///
  /// - Throws: ``PersistenceError/Code/unknownProperty``, ``PersistenceError/Code/typeMismatch``.
  public mutating func set(_ values: [String: Any?]) throws {
    for (name, value) in values { self[slot: try slot(forKey: name)] = try stored(value, forKey: name) }
  }

  private func stored(_ value: Any?, forKey name: String) throws -> StoredValue {
    guard let value, let property = entity.property(named: name) else { return .null }
    var place: PersistenceError.Place { .property(entity.name, name) }
    if let attribute = property.attribute {
      // Common cases are tried before the conversion that inspects optionals and Foundation's classes.
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
