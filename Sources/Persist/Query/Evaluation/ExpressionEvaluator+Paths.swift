/// Keys, collection operators and indexes.
extension ExpressionEvaluator {
  /// The value at the end of a key path. A key of a collection collects the values of all its members.
  func follow(_ keys: ArraySlice<String>, from start: FetchValue) throws -> FetchValue {
    var value = start
    var rest = keys
    while let key = rest.popFirst() {
      if let operation = CollectionOperator(rawValue: key) {
        return try apply(operation, keys: rest, to: value.members)
      }
      if case .collection(let members) = value {
        value = .collection(try members.flatMap { try self.value(forKey: key, of: $0).flattened })
      } else {
        value = try self.value(forKey: key, of: value)
      }
    }
    return value
  }

  private func value(forKey key: String, of value: FetchValue) throws -> FetchValue {
    switch value {
    case .object(let object): return try inherent(key, of: object) ?? object.fetchValue(forKey: key)
    case .value(let stored): return .value(try stored.value(forKey: key))
    case .collection(let members):
      return .collection(try members.flatMap { try self.value(forKey: key, of: $0).flattened })
    }
  }

  /// The value that every object has under a key, unless a property of the same name hides it.
  private func inherent(_ key: String, of object: any KeyedObject) -> FetchValue? {
    switch key {
    case "self" where !object.hasProperty(named: key): .object(object)
    case "objectID" where !object.hasProperty(named: key): .value(object.fetchIdentity)
    case "entity" where !object.hasProperty(named: key):
      object.fetchEntityName.map { .object(NamedEntity(name: $0)) }
    default: nil
    }
  }

  private func apply(_ operation: CollectionOperator, keys: ArraySlice<String>, to members: [FetchValue]) throws
    -> FetchValue
  {
    if operation == .count { return try follow(keys, from: .value(.integer(Int64(members.count)))) }
    let values = keys.isEmpty ? members : try members.map { try follow(keys, from: $0) }
    switch operation {
    case .count: return .value(.integer(Int64(members.count)))
    case .sum: return try Aggregate.sum(values)
    case .average: return try Aggregate.average(values)
    case .minimum: return Aggregate.extreme(values, .less)
    case .maximum: return Aggregate.extreme(values, .greater)
    case .unionOfObjects, .unionOfArrays, .unionOfSets: return .collection(values.flatMap(\.members))
    case .distinctUnionOfObjects, .distinctUnionOfArrays, .distinctUnionOfSets:
      return .collection(Aggregate.distinct(values.flatMap(\.members)))
    }
  }

  func element(of list: FetchExpression, _ position: FetchExpression.Position, for object: FetchValue) throws
    -> FetchValue
  {
    let list = try value(of: list, for: object)
    if case .value(.composite(let elements)) = list, case .index(let index) = position,
      let key = try value(of: index, for: object).stored?.text
    {
      return .value(elements[key] ?? .null)
    }
    guard case .collection(let members) = list else {
      if list.isNull { return position == .size ? .value(.integer(0)) : .null }
      throw PersistenceError(.typeMismatch, "Only a collection can be indexed; this is \(list.kind).")
    }
    switch position {
    case .first: return members.first ?? .null
    case .last: return members.last ?? .null
    case .size: return .value(.integer(Int64(members.count)))
    case .index(let index):
      guard let number = try value(of: index, for: object).stored.flatMap(Number.init)?.whole,
        let place = Int(exactly: number), members.indices.contains(place)
      else { return .null }
      return members[place]
    }
  }
}

extension FetchValue {
  /// The members of a collection; a single value, including null, is one member.
  fileprivate var flattened: [FetchValue] {
    if case .collection(let members) = self { members } else { [self] }
  }

  /// The description of the value's kind in error messages.
  var kind: String {
    switch self {
    case .value(let value): value.kind
    case .object: "an object"
    case .collection: "a collection"
    }
  }
}
