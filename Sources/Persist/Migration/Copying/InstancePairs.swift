/// The associations between destination and source objects that can't be derived from their keys.
///
/// Pairs are moved to a temporary table once their objects are saved, so that memory use doesn't grow with the store.
final class InstancePairs {
  private struct Origin: Hashable {
    let step: Int
    let key: Int64
  }

  /// The saved pairs.
  let table: any ObjectAssociations
  // Unchecked: a migration uses the pairs in one thread, and nothing here calls out while it changes them. The checks
  // took as long as the questions for pairs of steps that have none.
  @exclusivity(unchecked) private var unsaved: [Origin: [ManagedObject]] = Dictionary()
  @exclusivity(unchecked)
  private var unsavedOrigins: [ObjectIdentifier: [(step: Int, source: ManagedObject)]] = Dictionary()
  /// The steps with rows in the table.
  @exclusivity(unchecked) private var written: Set<Int> = []

  init(_ table: any ObjectAssociations) { self.table = table }

  func add(_ object: ManagedObject, from source: ManagedObject, step: Int) {
    unsaved[Origin(step: step, key: source.key), default: []].append(object)
    unsavedOrigins[ObjectIdentifier(object), default: []].append((step, source))
  }

  /// Writes the added pairs, whose objects have been saved, and additional ones.
  func save(_ more: [ObjectAssociation]) throws {
    var rows = more
    for (origin, objects) in unsaved {
      for object in objects where object.managedObjectContext != nil {
        rows.append(
          ObjectAssociation(
            step: origin.step, source: origin.key, entity: object.entity.number, destination: object.key))
      }
    }
    unsaved.removeAll(keepingCapacity: true)
    unsavedOrigins.removeAll(keepingCapacity: true)
    guard !rows.isEmpty else { return }
    try table.add(rows)
    written.formUnion(rows.map(\.step))
  }

  /// Whether a step may have any pairs.
  func mayHave(step: Int) -> Bool { !unsaved.isEmpty || written.contains(step) }

  func unsavedDestinations(of source: Int64, step: Int) -> [ManagedObject] {
    unsaved.isEmpty ? [] : unsaved[Origin(step: step, key: source)] ?? []
  }

  func unsavedSources(of object: ManagedObject, step: Int) -> [ManagedObject] {
    guard !unsavedOrigins.isEmpty, let origins = unsavedOrigins[ObjectIdentifier(object)] else { return [] }
    return origins.filter { $0.step == step }.map(\.source)
  }

  func destinations(of source: Int64, step: Int) throws -> [ObjectAssociation] {
    written.contains(step) ? try table.destinations(of: source, step: step) : []
  }

  func sources(of object: ManagedObject, step: Int) throws -> [Int64] {
    guard written.contains(step) else { return [] }
    return try table.sources(of: object.key, entity: object.entity.number, step: step)
  }
}
