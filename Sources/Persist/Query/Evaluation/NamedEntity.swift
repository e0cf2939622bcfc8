/// The value of an object's `entity`: its name in comparisons, and `entity.name` is the name too.
struct NamedEntity: KeyedObject {
  let name: String

  func fetchValue(forKey key: String) throws -> FetchValue {
    if key == "name" { return .value(fetchIdentity) }
    throw PersistenceError(
      .unknownProperty, at: .property(name, key), "A predicate can read only an entity's name, not '\(key)'.",
      fix: "Write entity.name.")
  }

  var fetchIdentity: StoredValue { .string(name) }
  var fetchEntityName: String? { nil }
}
