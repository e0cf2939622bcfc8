/// The objects of one import by their identifying values.
///
/// The data of an import can contain an object several times, at different depths. All of them must resolve to the same
/// object, even before its relationships are set.
final class ImportedObjects {
  /// An attribute that identifies objects of an entity.
  struct Search: Hashable {
    let entity: Entity
    let slot: Int
  }

  private let context: ManagedObjectContext
  private var objects: [ImportedProperty: [StoredValue: [ManagedObject]]] = Dictionary()
  private var searched: [Search: Set<StoredValue>] = Dictionary()

  init(in context: ManagedObjectContext) { self.context = context }

  /// Returns the object of an entity with an identifying value; nil if there was none when the value was looked up.
  func object(of entity: Entity, _ key: Property, _ identity: StoredValue) -> ManagedObject? {
    // Other data of the import may have found the object by another attribute, and changed this value.
    objects[ImportedProperty(key)]?[identity]?.first { object in
      object.table?.context === context && object.change != .deleted && object.entity.isKind(of: entity)
        && object.unobservedValue(at: key.slot) == identity
    }
  }

  /// Registers an object under the value of an attribute, if the attribute identifies objects of this import.
  func register(_ object: ManagedObject, by key: Property, _ identity: StoredValue) {
    guard !identity.isNull, objects[ImportedProperty(key)] != nil else { return }
    guard objects[ImportedProperty(key)]?[identity]?.contains(where: { $0 === object }) != true else { return }
    objects[ImportedProperty(key)]?[identity, default: []].append(object)
  }

  /// Registers the context's objects that have one of some identifying values, with a single request for the values
  /// that weren't looked up before.
  func lookUp(_ identities: some Sequence<StoredValue>, by search: Search) throws {
    let key = search.entity.properties[search.slot]
    if objects[ImportedProperty(key)] == nil { objects[ImportedProperty(key)] = Dictionary() }
    let wanted = Set(identities.filter { !$0.isNull && searched[search]?.contains($0) != true })
    guard !wanted.isEmpty else { return }
    var request = FetchRequest<ManagedObject>(search.entity.name)
    // A filtered object is updated, not created once more.
    request.ignoresDefaultFilters = true
    request.predicate = .compare(.key(key.name), .in, .aggregate(wanted.map(FetchExpression.constant)))
    for object in try context.fetch(request) {
      register(object, by: key, object.attributeValue(at: key.slot))
    }
    searched[search, default: []].formUnion(wanted)
  }
}
