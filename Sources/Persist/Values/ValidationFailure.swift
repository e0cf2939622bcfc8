/// Which value broke which rule, of a validation error: ``PersistenceError/validationFailure``.
public struct ValidationFailure: Sendable, Hashable {
  /// The object, as an identifier: an error may go where objects can't. Nil where a value was checked alone.
  public internal(set) var objectID: ManagedObjectID?
  /// The property's name.
  public let key: String
  /// The value, null for none; of a to-many relationship the number of its objects.
  public let value: StoredValue
  /// The broken rule in the predicate language, over `SELF`.
  public let predicate: String?

  public init(objectID: ManagedObjectID? = nil, key: String, value: StoredValue, predicate: String? = nil) {
    self.objectID = objectID
    self.key = key
    self.value = value
    self.predicate = predicate
  }
}

extension PersistenceError {
  /// What broke a rule, of a validation error that stands for itself.
  public var validationFailure: ValidationFailure? { details?.value as? ValidationFailure }

  /// The error of a class's own validation that this one stands for, in a list of several.
  public var ownError: (any Error)? { (details?.value as? OwnError)?.error }

  /// One of a list of validation errors: a class's own error as one of Persist's.
  init(ownError error: any Error, at place: Place = .unknown) {
    self.init(.validationRule, at: place, "\(error)")
    details = Details(OwnError(error: error))
  }

  func withFailure(_ failure: ValidationFailure) -> PersistenceError {
    var error = self
    error.details = Details(failure)
    return error
  }

  /// Compared by what it says: an error needn't be comparable.
  private struct OwnError: Sendable, Hashable {
    let error: any Error

    static func == (left: OwnError, right: OwnError) -> Bool { "\(left.error)" == "\(right.error)" }
    func hash(into hasher: inout Hasher) { hasher.combine("\(error)") }
  }
}
