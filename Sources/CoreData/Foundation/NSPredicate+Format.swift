public import Foundation
import Persist

extension NSPredicate {
  /// Creates a predicate from a format string in NSPredicate's language.
  ///
  /// A malformed string stops the program, as it raises an exception on Apple's platforms.
  public convenience init(format: String, _ arguments: Any?...) {
    self.init(format: format, argumentArray: arguments.map { $0 ?? NSNull() })
  }

  /// Creates a predicate from a format string and the values of its placeholders.
  ///
  /// A malformed string stops the program, as it raises an exception on Apple's platforms.
  public convenience init(format: String, argumentArray: [Any]?) {
    let arguments = argumentArray?.map(PredicateArgument.persist)
    let predicate: FetchPredicate
    do { predicate = try FetchPredicate(format: format, argumentArray: arguments) } catch {
      stop("The predicate '\(format)' can't be created: \(error)")
    }
    self.init(creating: { unsafeDowncast(NSPredicate.of(predicate), to: Self.self) })
  }

  /// Returns the predicate with values for its variables. The source pass puts it in the place of
  /// `withSubstitutionVariables(_:)`, which Foundation declares unavailable off Apple's platforms.
  public func withVariables(_ variables: [String: Any]) -> NSPredicate {
    guard let predicate = try? fetchPredicate() else { return self }
    return .of(predicate.replacing(variables))
  }

  /// Returns the object for a predicate of Persist's.
  static func of(_ predicate: FetchPredicate) -> NSPredicate {
    if case .comparison(let comparison) = predicate { return NSComparisonPredicate(comparison) }
    return FormatPredicate(predicate)
  }
}

extension NSPredicate {
  /// The predicate that stores and contexts evaluate.
  ///
  /// - Throws: `invalidPredicate` for a block, which no store can evaluate.
  func fetchPredicate() throws -> FetchPredicate {
    switch self {
    case let predicate as FormatPredicate: return predicate.predicate
    case let predicate as NSComparisonPredicate: return .comparison(predicate.comparison)
    case let compound as NSCompoundPredicate:
      let parts = try compound.subpredicates.map { try $0.fetchPredicate() }
      switch compound.compoundPredicateType {
      case .and: return .and(parts)
      case .or: return .or(parts)
      case .not:
        guard let part = parts.first else { throw Self.untranslatable(compound) }
        return .not(part)
      }
    default:
      // A constant doesn't look at its object, unlike a block.
      let probe = PredicateProbe()
      let value = evaluate(with: probe)
      if self === NSPredicate(value: value) || isEqual(NSPredicate(value: value)) { return .constant(value) }
      throw Self.untranslatable(self)
    }
  }

  private static func untranslatable(_ predicate: NSPredicate) -> PersistenceError {
    PersistenceError(
      .invalidPredicate, "A store can't evaluate the block of an NSPredicate.",
      fix: "Use NSPredicate(format:), or filter the results in memory.")
  }
}

private final class PredicateProbe: NSObject {}

/// A predicate made from a format string.
final class FormatPredicate: NSPredicate {
  let predicate: FetchPredicate

  init(_ predicate: FetchPredicate) {
    self.predicate = predicate
    super.init(value: true)
  }

  required init?(coder: NSCoder) { nil }

  override func evaluate(with object: Any?) -> Bool { evaluate(with: object, substitutionVariables: nil) }

  override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    predicate.value(with: object, bindings)
  }

  override var predicateFormat: String { predicate.format }
  override var description: String { predicate.format }
  override func copy(with zone: NSZone? = nil) -> Any { self }
  override func isEqual(_ other: Any?) -> Bool { (other as? FormatPredicate)?.predicate == predicate }
  override var hash: Int { predicate.hashValue }
}

/// Values that format strings take.
enum PredicateArgument {
  /// Replaces values that Persist doesn't take.
  static func persist(_ value: Any) -> Any {
    switch value {
    case let expression as NSExpression: expression.fetchExpression
    case let entity as NSEntityDescription: entity.name ?? ""
    case let token as NSPersistentHistoryToken: token.token
    case let optional as any OptionalManagedValue: optional.wrapped.map(persist) ?? NSNull()
    case let value as any RawRepresentable where !(value is any FetchArgument): persist(value.rawValue)
    case let list as NSArray: list.map(persist)
    case let set as NSSet: set.allObjects.map(persist)
    case let set as NSOrderedSet: set.array.map(persist)
    case let list as [Any]: list.map(persist)
    case let set as Set<AnyHashable>: set.map { persist($0.base) }
    default: value
    }
  }

  /// Returns the constant for a value, or for the members of a collection.
  ///
  /// - Throws: `typeMismatch` for a value that no property can have.
  static func expression(_ value: Any?) throws -> FetchExpression {
    guard let value else { return .constant(.null) }
    let argument = persist(value)
    let format = argument is [Any] ? "SELF IN %@" : "SELF == %@"
    guard case .comparison(let comparison) = try FetchPredicate(format: format, argumentArray: [argument]) else {
      return .constant(.null)
    }
    return comparison.right
  }

  /// Returns the stored form of a value.
  ///
  /// - Throws: `typeMismatch` for a value that no attribute can have.
  static func value(_ value: Any?) throws -> StoredValue {
    if let value = try expression(value).constantValue { return value }
    throw PersistenceError(.typeMismatch, "No attribute can have a value of type \(type(of: value)).")
  }

  /// Returns the stored form of a value that is only compared; null for one that no attribute can have.
  static func compared(_ value: Any?) -> StoredValue { (try? self.value(value)) ?? .null }
}

extension FetchPredicate {
  /// Evaluates the predicate with a managed object, a dictionary or a plain value.
  func value(with object: Any?, _ bindings: [String: Any]?) -> Bool {
    let predicate = bindings.map(replacing) ?? self
    do {
      switch object {
      case let object as NSManagedObject: return try predicate.evaluate(with: object)
      case let dictionary as [String: Any]: return try predicate.evaluate(with: DictionaryObject(dictionary))
      default: return try predicate.evaluate(with: PredicateArgument.compared(object))
      }
    } catch {
      stop("The predicate '\(predicate)' can't be evaluated with \(object ?? "nil"): \(error)")
    }
  }

  func replacing(_ variables: [String: Any]) -> FetchPredicate {
    substituting(
      variables.mapValues { value in
        do { return try PredicateArgument.expression(value) } catch {
          stop("A variable of the predicate '\(self)' can't have this value: \(error)")
        }
      })
  }
}

/// A dictionary whose values predicates read by key.
struct DictionaryObject: KeyedObject {
  private let values: [String: Any]

  init(_ values: [String: Any]) { self.values = values }

  func fetchValue(forKey key: String) throws -> FetchValue {
    switch values[key] {
    case let nested as [String: Any]: .object(DictionaryObject(nested))
    case let object as NSManagedObject: .object(object)
    case let list as [Any]: .collection(list.map { .value(PredicateArgument.compared($0)) })
    case let value: .value(PredicateArgument.compared(value))
    }
  }

  func hasProperty(named name: String) -> Bool { values[name] != nil }

  var fetchIdentity: StoredValue { .null }
  var fetchEntityName: String? { nil }

  func fullTextMatcher(forKeys keys: [String]) throws -> any FullTextMatcher {
    throw PersistenceError(.invalidPredicate, "A dictionary has no index of its texts.")
  }
}
