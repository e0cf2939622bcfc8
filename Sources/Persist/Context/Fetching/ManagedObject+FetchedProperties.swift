/// Fetched properties: the results of a request of the model for an object.
///
/// The request runs when the property is first read, over all stores of the coordinator, with the object as
/// `$FETCH_SOURCE` and the property as `$FETCHED_PROPERTY`. Its results are cached until the object is refreshed,
/// unless they include unsaved objects.
extension ManagedObject {
  /// Returns the objects of a fetched property by slot.
  ///
  /// A getter can't throw: errors are thrown by the context's next call that can, and the property reads as empty.
  public final func fetched<Element: ManagedObject>(at slot: Int, of type: Element.Type = Element.self) -> [Element] {
    do {
      return try fetchedObjects(of: layout.properties[slot]).map { object in
        guard let element = object as? Element else {
          preconditionFailure(
            "\(object) is of class \(Swift.type(of: object)), not \(Element.self): register its class.")
        }
        return element
      }
    } catch {
      table?.context.deferError(error)
      return []
    }
  }

  /// Returns the objects of a fetched property, which are read unless they are known.
  final func fetchObjects(of property: Property) throws -> [ManagedObject] {
    guard let description = property.fetchedProperty, let context = table?.context else { return [] }
    if !toManys.isEmpty, let known = toManys[property.slot]?.current {
      let objects = known.compactMap { context.registeredOrFault($0) }
      context.prefetchRows(of: objects)
      holdMembers(objects, at: property.slot)
      return objects
    }
    var request = try FetchRequest<ManagedObject>(description.request)
    request.predicate = try request.predicate.map { try given($0, description) }
    let found = try context.fetch(request)
    // Identifiers of unsaved objects are temporary.
    if found.contains(where: \.isInserted) { return found }
    let members = ToManyMembers(isOrdered: true)
    members.load(.identifiers(found.map(\.objectID)))
    setMembers(members, at: property.slot)
    holdMembers(found, at: property.slot)
    return found
  }

  /// Returns a predicate with its variables replaced by values.
  private final func given(
    _ predicate: FetchPredicate, _ property: FetchedPropertyDescription
  ) throws -> FetchPredicate {
    let variables: [String: FetchValue] = [
      "FETCH_SOURCE": .object(self), "FETCHED_PROPERTY": .object(FetchedPropertySource(property: property)),
    ]
    let evaluator = ExpressionEvaluator(variables: variables)
    return try predicate.replacing { expression in
      switch expression {
      case .variable(let name) where variables[name] != nil,
        .path(of: .variable(let name), _) where variables[name] != nil:
        return Self.constant(try evaluator.value(of: expression, for: .object(self)))
      default: return nil
      }
    }
  }

  private static func constant(_ value: FetchValue) -> FetchExpression {
    if case .collection(let members) = value { return .aggregate(members.map(constant)) }
    return .constant(value.stored ?? .null)
  }
}

/// A fetched property as seen by its own request: `$FETCHED_PROPERTY.userInfo.search`.
private struct FetchedPropertySource: KeyedObject {
  let property: FetchedPropertyDescription

  func fetchValue(forKey key: String) throws -> FetchValue {
    switch key {
    case "name": return .value(.string(property.name))
    case "userInfo": return .value(.composite(property.userInfo.mapValues(StoredValue.string)))
    default:
      throw PersistenceError(
        .unknownProperty, at: .init(property: key),
        "The request of a fetched property can't read '$FETCHED_PROPERTY.\(key)'.",
        fix: "Use $FETCHED_PROPERTY.name or a key of $FETCHED_PROPERTY.userInfo.")
    }
  }

  var fetchIdentity: StoredValue { .null }
  var fetchEntityName: String? { nil }
}
