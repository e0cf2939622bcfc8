public import Foundation

/// Something that a migration parked in a store.
public struct ParkedContent: Sendable, Hashable {
  /// The entity whose objects have it, as the store's version then named it.
  public let entity: String
  /// The property; nil for whole objects.
  public let property: String?
  /// The parked part of the objects.
  public let kind: Kind
  /// The name of the version that has a place for it.
  public let version: String
  /// The number of objects, values or pairs.
  public let count: Int
  /// The time of parking, to the second; nil if an earlier version of Persist parked it.
  public let date: Date?
}

extension ParkedContent {
  /// The kind of parked content: whole objects, or a part of them.
  ///
  /// Later releases may park more kinds.
  public struct Kind: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// Whole objects, of an entity without a place.
    public static let objects = Kind(rawValue: "objects")
    /// Values of an attribute, or of an element of a composite attribute.
    public static let values = Kind(rawValue: "values")
    /// Pairs of related objects.
    public static let pairs = Kind(rawValue: "pairs")

    /// The kind's plural noun, such as `objects`.
    public let rawValue: String

    /// Creates a kind from its plural noun.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The kind's plural noun.
    public var description: String { rawValue }
  }

  /// The entity, or the property with its entity: `Item.quantity`.
  package var place: String { property.map { "\(entity).\($0)" } ?? entity }

  /// The number and the kind in words: `3 objects`, `1 value`.
  package var amount: String { Measure.count(count, String(kind.rawValue.dropLast())) }
}

extension ParkedContent {
  /// Everything that is parked in a store, oldest first.
  package static func all(in inspector: any StoreInspector) throws -> [ParkedContent] {
    let catalog = try inspector.catalog()
    guard catalog.canHaveParkedValues else { return [] }
    let hasAges = catalog.schema.hasTable(named: ParkedSlot.Table.states)
    return try inspector.parkedSlots().map { slot in
      let time = hasAges ? try inspector.firstNumber(.parkedTime(slot)) : 0
      return ParkedContent(
        entity: slot.entity, property: slot.keyPath, kind: slot.kind.contents, version: slot.version,
        count: try inspector.firstNumber(.countParked(slot)),
        date: time == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(time)))
    }
  }
}

extension PersistentStoreCoordinator {
  /// Lists the values, objects and pairs that migrations parked in a closed or open store, oldest first. Never writes.
  ///
  /// - Throws: The errors of files that aren't stores.
  public static func parkedContents(at url: URL) throws -> [ParkedContent] {
    return try StoreLocation(url).inspect { try ParkedContent.all(in: $0) }
  }

  /// Deletes what migrations parked in a store: for good, and whether or not the store is open.
  ///
  /// - Parameters:
  ///   - url: The store.
  ///   - entity: Only what belongs to this entity; nil for all.
  ///   - property: Only what belongs to this property of the entity; nil for all, whole objects included.
  ///   - date: Deletes only contents that were parked before this time; nil for all.
  /// - Returns: The deleted contents.
  /// - Throws: ``PersistenceError/Code/storeBusy`` if another process holds the store;
  ///   ``PersistenceError/Code/invalidRequest`` while the store is being migrated online.
  @discardableResult
  public static func purgeParkedContents(
    at url: URL, of entity: String? = nil, property: String? = nil, parkedBefore date: Date? = nil
  ) throws -> [ParkedContent] {
    let all = try parkedContents(at: url)
    let purged = all.filter { content in
      entity.map { $0 == content.entity } != false && property.map { $0 == content.property } != false
        && date.map { (content.date ?? .distantPast) < $0 } != false
    }
    guard !purged.isEmpty else { return [] }
    try ParkedValues.change(at: url, options: StoreOptions()) { parked, catalog in
      if let served = try parked.connection.servedModels() {
        throw served.refusal("Its parked values may be on their way back, and can't be purged.", at: .store(url))
      }
      _ = try parked.purge(in: catalog.schema) { slot in
        purged.contains {
          $0.entity == slot.entity && $0.version == slot.version && $0.property == slot.keyPath
            && $0.kind == slot.kind.contents
        }
      }
      try parked.dropEmptyColumns(of: catalog.schema)
    }
    return purged
  }
}
