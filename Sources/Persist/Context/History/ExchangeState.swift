import Foundation

/// The objects and clocks of a store during one step of an exchange.
final class ExchangeState {
  let exchange: HistoryExchange
  let context: ManagedObjectContext
  /// The changes of the clocks.
  var notes = ExchangeNotes()
  private var known: [String: [ExchangeEntry.Part: ExchangeEntry]] = [:]
  private var found: [String: ManagedObject] = [:]

  init(_ exchange: HistoryExchange, author: String?) {
    self.exchange = exchange
    context = ManagedObjectContext(exchange.coordinator)
    context.transactionAuthor = author
  }

  // MARK: Clocks

  func entries(_ identity: String) throws -> [ExchangeEntry.Part: ExchangeEntry] {
    if let entries = known[identity] { return entries }
    let entries = Dictionary(
      try exchange.history.exchangeEntries(of: identity).map { ($0.part, $0) }, uniquingKeysWith: { first, _ in first })
    known[identity] = entries
    return entries
  }

  func entry(_ identity: String, _ part: ExchangeEntry.Part) throws -> ExchangeEntry? { try entries(identity)[part] }

  func isDeleted(_ identity: String) throws -> Bool { try entry(identity, .deletion) != nil }

  /// The entries of the identity must have been read.
  func set(_ entry: ExchangeEntry) {
    known[entry.identity, default: [:]][entry.part] = entry
    notes.entries.append(entry)
  }

  /// Whether a relationship's members are exchanged with this end: that of a many-to-many relationship that comes first
  /// by name.
  func isMembers(_ property: Property, of entity: Entity) -> Bool {
    guard let relationship = property.relationship, relationship.isToMany, !relationship.isTransient,
      let inverse = context.model.inverse(of: relationship), inverse.isToMany,
      let back = context.model.destination(of: relationship).property(named: inverse.name)
    else { return false }
    return (property.declaringEntity, property.name) < (back.declaringEntity, back.name)
  }

  // MARK: Objects

  func existing(_ id: ManagedObjectID) -> ManagedObject? {
    guard let object = context.registeredOrFault(id), object.change != .deleted else { return nil }
    object.fulfill()
    return object.loading == .missing ? nil : object
  }

  /// The identity of a changed object; nil if the object has been deleted, and the change isn't its deletion.
  func identity(of change: HistoryChange) throws -> String? {
    let id = change.changedObjectID
    guard let identifier = exchange.identifiers[id.entityName] else { return try storedIdentity(of: id) }
    guard change.changeType == .delete else { return try existing(id).map { try identity(of: $0) } }
    guard let value = change.tombstone?[identifier.attribute] ?? change.oldValues?[identifier.attribute],
      let text = Self.text(of: value)
    else {
      throw PersistenceError(
        .invalidRequest, at: .property(id.entityName, identifier.attribute),
        "The deletion of \(id.entityName) \(id.primaryKey ?? 0) didn't keep '\(identifier.attribute)'.",
        fix: "Preserve the attribute after deletion in the model, or open the store with historyKeeps: .oldValues.")
    }
    return "\(identifier.entity)/\(text)"
  }

  func identity(of object: ManagedObject) throws -> String {
    let id = object.objectID
    guard let identifier = exchange.identifiers[id.entityName] else { return try storedIdentity(of: id) }
    guard let slot = object.entity.slot(named: identifier.attribute),
      let text = Self.text(of: object.presentValue(at: slot))
    else {
      throw PersistenceError(
        .invalidRequest, at: .property(id.entityName, identifier.attribute),
        "\(id.entityName) \(id.primaryKey ?? 0) has no value for '\(identifier.attribute)', which identifies it.",
        fix: "Give each object a value, for example in awakeFromInsert.")
    }
    return "\(identifier.entity)/\(text)"
  }

  private func storedIdentity(of id: ManagedObjectID) throws -> String {
    try exchange.history.exchangeIdentity(ofEntity: id.entityName, key: id.primaryKey ?? 0) ?? id.description
  }

  private static func text(of value: StoredValue) -> String? {
    switch value {
    case .uuid(let value): value.uuidString
    case .string(let value), .uri(let value): value
    case .integer(let value): String(value)
    default: nil
    }
  }

  /// The object with an identity; nil if the store doesn't have it.
  func object(_ identity: String) throws -> ManagedObject? {
    if let object = found[identity] { return object.change == .deleted ? nil : object }
    let object = try lookUp(identity)
    found[identity] = object
    return object
  }

  private func lookUp(_ identity: String) throws -> ManagedObject? {
    if identity.hasPrefix("x-coredata:") {
      guard let uri = URL(string: identity), let id = ManagedObjectID(uriRepresentation: uri) else { return nil }
      // The host of a URL may have another case.
      let isOwn = id.storeIdentifier.lowercased() == exchange.storeID.lowercased()
      let row = try isOwn ? nil : exchange.history.exchangeRow(of: identity)
      guard isOwn || row != nil, let key = row?.key ?? id.primaryKey else { return nil }
      return existing(
        ManagedObjectID(
          entityName: row?.entity ?? id.entityName, storeIdentifier: exchange.storeID, key: .permanent(key)))
    }
    guard let slash = identity.firstIndex(of: "/"),
      let identifier = exchange.identifiers[String(identity[..<slash])],
      let attribute = context.model.entitiesByName[identifier.entity]?.property(named: identifier.attribute)?.attribute
    else { return nil }
    let text = String(identity[identity.index(after: slash)...])
    let value: StoredValue =
      switch attribute.type {
      case .uuid: UUID(uuidString: text).map(StoredValue.uuid) ?? .null
      case .uri: .uri(text)
      case .int16, .int32, .int64: Int64(text).map(StoredValue.integer) ?? .null
      default: .string(text)
      }
    var request = FetchRequest<ManagedObject>(identifier.entity)
    request.predicate = .compare(.path(of: .current, [identifier.attribute]), .equal, .constant(value))
    return try context.fetch(request).first
  }

  /// Creates an object of another store, with its identity.
  func create(_ change: HistoryChangeSet.ObjectChange) throws {
    let object = try context.create(change.entity)
    found[change.identity] = object
    guard change.identity.hasPrefix("x-coredata:") else { return }
    try context.obtainPermanentIDs(for: [object])
    notes.rows.append(
      ExchangeRow(
        identity: change.identity, entity: object.entity.name, key: object.objectID.primaryKey ?? 0))
  }
}
