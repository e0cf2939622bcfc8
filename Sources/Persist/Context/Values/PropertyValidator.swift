/// A class's validation rule for one property, in addition to the model's.
///
/// ```swift
/// final class Employee: ManagedObject {
///   override class var validators: [PropertyValidator] {
///     [
///       PropertyValidator("salary") { _, value in
///         if let salary = value as? Int, salary > 1_000_000 { throw TooRich(salary) }
///       }
///     ]
///   }
/// }
/// ```
public struct PropertyValidator {
  /// The name of the attribute or relationship that the rule checks.
  public let key: String
  let check: (ManagedObject, Any?) throws -> Void

  /// - Parameters:
  ///   - key: The name of an attribute or relationship.
  ///   - check: Called with the object and the value, as returned by ``ManagedObject/value(forKey:)``. If its error is
  ///     the only problem, the save throws it unchanged. It must not change the object.
  public init(_ key: String, _ check: @escaping (ManagedObject, Any?) throws -> Void) {
    self.key = key
    self.check = check
  }
}
