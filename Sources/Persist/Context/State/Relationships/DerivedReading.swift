/// An object as seen by derivations before a save: its derived attributes have the values that the save will store, not
/// those of the last save.
struct DerivedReading: KeyedObject {
  private let object: any KeyedObject
  private let entity: Entity?
  /// The number of nested derivations; models may contain cycles.
  private let depth: Int
  private static let depthLimit = 20

  init(_ object: ManagedObject) { self.init(object, object.entity, depth: 0) }

  private init(_ object: any KeyedObject, _ entity: Entity?, depth: Int) {
    self.object = object
    self.entity = entity
    self.depth = depth
  }

  func fetchValue(forKey key: String) throws -> FetchValue {
    guard let derivation = entity?.property(named: key)?.attribute?.derivation, depth < Self.depthLimit else {
      return reading(try object.fetchValue(forKey: key))
    }
    return try FetchExpression(derivation).value(for: DerivedReading(object, entity, depth: depth + 1))
  }

  private func reading(_ value: FetchValue) -> FetchValue {
    switch value {
    case .value: value
    case .object(let other): .object(DerivedReading(other, (other as? ManagedObject)?.entity, depth: depth))
    case .collection(let members): .collection(members.map(reading))
    }
  }

  func hasProperty(named name: String) -> Bool { object.hasProperty(named: name) }
  var fetchIdentity: StoredValue { object.fetchIdentity }
  var fetchEntityName: String? { object.fetchEntityName }
}
