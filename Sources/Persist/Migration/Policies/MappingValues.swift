/// The values of the variables in a mapping model's expressions.
extension MigrationManager: KeyedObject {
  /// Returns the contexts, the running entity mapping or the shared data, or the result of
  /// ``MigrationManager/call(_:arguments:)`` without arguments.
  ///
  /// - Throws: ``PersistenceError/Code/unknownProperty`` for any other key.
  public func fetchValue(forKey key: String) throws -> FetchValue {
    switch key {
    case "sourceContext": return .object(ContextValue(context: sourceContext))
    case "destinationContext": return .object(ContextValue(context: destinationContext))
    case "currentEntityMapping": return currentEntityMapping.map { .object(EntityMappingValue(mapping: $0)) } ?? .null
    case "userInfo":
      let values = userInfo.compactMapValues { ($0 as? any FetchArgument)?.fetchExpression.constantValue }
      return .value(.composite(values))
    default:
      if let value = try call(key, arguments: []) { return value }
      throw PersistenceError(
        .unknownProperty, "The migration manager has no '\(key)'.",
        fix: "It has sourceContext, destinationContext, currentEntityMapping and userInfo; a subclass can add methods.")
    }
  }

  /// The class's name: a manager isn't identified any further.
  public var fetchIdentity: StoredValue { .string(String(reflecting: type(of: self))) }
  /// Nil: a manager isn't an object of an entity.
  public var fetchEntityName: String? { nil }
}

/// A context, which expressions can only pass on.
package struct ContextValue: KeyedObject {
  package let context: ManagedObjectContext

  package func fetchValue(forKey key: String) throws -> FetchValue {
    throw PersistenceError(.unknownProperty, "A context has no '\(key)' for expressions.")
  }

  package var fetchIdentity: StoredValue { .null }
  package var fetchEntityName: String? { nil }
}

/// A request, which `FETCH` executes.
struct RequestValue: KeyedObject {
  let request: FetchRequest<ManagedObject>

  func fetchValue(forKey key: String) throws -> FetchValue {
    throw PersistenceError(.unknownProperty, "A request has no '\(key)' for expressions.")
  }

  var fetchIdentity: StoredValue { .null }
  var fetchEntityName: String? { nil }
}

/// The value of `$entityMapping`.
package struct EntityMappingValue: KeyedObject {
  package let mapping: EntityMapping

  package func fetchValue(forKey key: String) throws -> FetchValue {
    func text(_ text: String?) -> FetchValue { text.map { .value(.string($0)) } ?? .null }
    switch key {
    case "name": return text(mapping.name)
    case "sourceEntityName": return text(mapping.sourceEntityName)
    case "destinationEntityName": return text(mapping.destinationEntityName)
    case "entityMigrationPolicyClassName": return text(mapping.policyName)
    case "userInfo": return .value(.composite(mapping.userInfo))
    default:
      throw PersistenceError(
        .unknownProperty, "An entity mapping has no '\(key)'.",
        fix: "It has name, sourceEntityName, destinationEntityName, entityMigrationPolicyClassName and userInfo.")
    }
  }

  package var fetchIdentity: StoredValue { .string(mapping.name) }
  package var fetchEntityName: String? { nil }
}

/// The implementation of `FUNCTION` and `FETCH` in a mapping model's expressions.
final class MappingCalls: ExpressionEvaluator.Calls {
  func call(_ selector: String, on target: FetchValue, arguments: [FetchValue]) throws -> FetchValue? {
    switch target {
    case .object(let manager as MigrationManager): try manager.call(selector, arguments: arguments)
    case .object(let policy as EntityMigrationPolicy): try policy.call(selector, arguments: arguments)
    default: nil
    }
  }

  func fetch(request: FetchValue, context: FetchValue, countOnly: Bool) throws -> FetchValue? {
    guard case .object(let request as RequestValue) = request, case .object(let value as ContextValue) = context else {
      return nil
    }
    if countOnly { return .value(.integer(Int64(try value.context.count(for: request.request)))) }
    return .objects(try value.context.fetch(request.request))
  }
}

extension FetchValue {
  static func objects(_ objects: [ManagedObject]) -> FetchValue { .collection(objects.map(FetchValue.object)) }
  static func request(_ request: FetchRequest<ManagedObject>) -> FetchValue { .object(RequestValue(request: request)) }

  /// The managed objects in an expression's result.
  var managedObjects: [ManagedObject] {
    switch self {
    case .object(let object): (object as? ManagedObject).map { [$0] } ?? []
    case .collection(let members): members.flatMap(\.managedObjects)
    case .value: []
    }
  }
}
