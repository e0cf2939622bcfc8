/// The value and the rule of a validation error: ``PersistenceError/validationFailure``.
public struct ValidationFailure: Sendable, Hashable {
  /// The object's identifier, because an error may cross isolation boundaries where objects can't. Nil if a value was
  /// checked on its own.
  public package(set) var objectID: ManagedObjectID?
  /// The property's name.
  public let key: String
  /// The value, or null if there is none; for a to-many relationship, the number of its objects.
  public let value: StoredValue
  /// The violated rule in the predicate language, applied to `SELF`.
  public let predicate: String?

  /// Creates a failure from its parts.
  ///
  /// - Parameters:
  ///   - objectID: The object's identifier; nil if a value was checked on its own.
  ///   - key: The property's name.
  ///   - value: The value that violates the rule.
  ///   - predicate: The rule in the predicate language, if it has such a form.
  public init(objectID: ManagedObjectID? = nil, key: String, value: StoredValue, predicate: String? = nil) {
    self.objectID = objectID
    self.key = key
    self.value = value
    self.predicate = predicate
  }
}

extension PersistenceError {
  /// The value and the rule of a single validation error.
  public var validationFailure: ValidationFailure? { details?.value as? ValidationFailure }

  /// The error thrown by a class's own validation, if this one wraps it in a list of several.
  public var ownError: (any Error)? { (details?.value as? OwnError)?.error }

  /// Wraps an error of a class's own validation for a list of validation errors.
  package init(ownError error: any Error, at place: Place = .unknown) {
    self.init(.validationRule, at: place, "\(error)")
    details = Details(OwnError(error: error))
  }

  package func withFailure(_ failure: ValidationFailure) -> PersistenceError {
    var error = self
    error.details = Details(failure)
    return error
  }

  /// A wrapper that compares errors by their text, since an error needn't be `Hashable`.
  private struct OwnError: Sendable, Hashable {
    let error: any Error

    static func == (left: OwnError, right: OwnError) -> Bool { "\(left.error)" == "\(right.error)" }
    func hash(into hasher: inout Hasher) { hasher.combine("\(error)") }
  }
}
