import Foundation
import Persist

/// The arguments of a method that a mapping model calls by its selector.
public struct ManagedArguments {
  private let selector: String
  private let values: [FetchValue]
  private let owner: String

  init(_ selector: String, _ values: [FetchValue], of owner: AnyObject) {
    self.selector = selector
    self.values = values
    self.owner = "\(type(of: owner))"
  }

  /// Returns an argument as the type of the method's parameter.
  ///
  /// - Throws: An error with the code `NSEntityMigrationPolicyError` if there is no such argument or it can't be
  ///   converted.
  public func value<Value>(_ index: Int) throws -> Value {
    guard values.indices.contains(index) else {
      throw failure("was called with \(values.count) arguments.", "Pass as many as the selector has colons.")
    }
    let value = Self.any(values[index])
    if let value = value as? Value { return value }
    if let type = Value.self as? any ManagedConvertible.Type, let value = type.converted(value) as? Value {
      return value
    }
    throw failure(
      "expects a \(Value.self) as argument \(index + 1), but got \(value.map { "a \(type(of: $0))" } ?? "nil").",
      "Correct the expression in the mapping model, or the parameter's type.")
  }

  private func failure(_ message: String, _ fix: String) -> PersistenceError {
    PersistenceError(
      PersistenceError.Code(NSEntityMigrationPolicyError, "migrationFailed"), "'\(selector)' of \(owner) \(message)",
      fix: fix)
  }

  static func any(_ value: FetchValue) -> Any? {
    switch value {
    case .value(let stored): FoundationValue.any(stored)
    case .collection(let members): members.map { any($0) ?? NSNull() }
    case .object(let object):
      switch object {
      case let bridge as MigrationManagerBridge: bridge.manager
      case let bridge as MigrationPolicyBridge: bridge.policy
      case let value as ContextValue: NSManagedObjectContext.of(value.context)
      case let value as EntityMappingValue: NSEntityMapping(value.mapping)
      default: object
      }
    }
  }
}

/// The result of a method that a mapping model calls by its selector.
public struct ManagedResult {
  private let result: Any?

  /// Wraps a method's result; that of a method without one is nil.
  public init(_ result: Any?) { self.result = result }

  /// - Throws: `typeMismatch` for a value that no attribute or relationship takes.
  func value() throws -> FetchValue { try Self.value(result) }

  private static func value(_ result: Any?) throws -> FetchValue {
    switch result {
    case nil, is Void, is NSNull: return .null
    case let optional as any OptionalManagedValue: return try value(optional.wrapped)
    case let object as any KeyedObject: return .object(object)
    case let set as NSSet: return .collection(try set.allObjects.map(value))
    case let set as NSOrderedSet: return .collection(try set.array.map(value))
    case let list as [Any]: return .collection(try list.map(value))
    case let set as Set<AnyHashable>: return .collection(try set.map { try value($0.base) })
    case let result?:
      do { return .value(try PredicateArgument.value(ManagedValue.persist(result))) } catch {
        throw PersistenceError(
          .typeMismatch, "A method of a mapping model returned a \(type(of: result)), which no expression can contain.",
          fix: "Return a number, a text, a date, data, an object or a collection of objects; set other values in "
            + "createDestinationInstances(forSource:in:manager:).")
      }
    }
  }
}
