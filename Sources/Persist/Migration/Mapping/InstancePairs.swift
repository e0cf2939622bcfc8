/// The associations of destination objects and source objects that don't follow from their keys.
///
/// Pairs are moved to a temporary table once their objects are saved, so that memory use doesn't grow with the store.
final class InstancePairs {
  /// A pair of saved objects.
  struct Row {
    let step: Int
    let source: Int64
    /// The number of the destination object's entity in the model.
    let entity: Int
    let destination: Int64
  }

  private struct Origin: Hashable {
    let step: Int
    let key: Int64
  }

  let connection: SQLiteConnection
  private var unsaved: [Origin: [ManagedObject]] = [:]
  private var unsavedOrigins: [ObjectIdentifier: [(step: Int, source: ManagedObject)]] = [:]
  /// The steps with rows in the table.
  private var written: Set<Int> = []

  /// - Parameter connection: the connection for the temporary table.
  init(_ connection: SQLiteConnection) throws {
    self.connection = connection
    try connection.execute(SQLText.createAssociations)
    try connection.execute(SQLText.indexAssociations)
  }

  func add(_ object: ManagedObject, from source: ManagedObject, step: Int) {
    unsaved[Origin(step: step, key: source.key), default: []].append(object)
    unsavedOrigins[ObjectIdentifier(object), default: []].append((step, source))
  }

  /// Writes the added pairs, whose objects have been saved, and further ones.
  func save(_ more: [Row]) throws {
    var rows = more
    for (origin, objects) in unsaved {
      for object in objects where object.managedObjectContext != nil {
        rows.append(
          Row(step: origin.step, source: origin.key, entity: object.entity.number, destination: object.key))
      }
    }
    unsaved.removeAll(keepingCapacity: true)
    unsavedOrigins.removeAll(keepingCapacity: true)
    guard !rows.isEmpty else { return }
    // A single transaction, of the temporary table only: separate ones would each scan all changed pages of that table.
    try connection.readTransaction {
      for row in rows {
        let statement = try connection.statement(SQLText.addAssociation)
        statement.bind(Int64(row.step), at: 1)
        statement.bind(row.source, at: 2)
        statement.bind(Int64(row.entity), at: 3)
        statement.bind(row.destination, at: 4)
        try statement.run()
        written.insert(row.step)
      }
    }
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

  func destinations(of source: Int64, step: Int) throws -> [Row] {
    guard written.contains(step) else { return [] }
    let statement = try connection.statement(SQLText.destinationsOfSource)
    statement.bind(Int64(step), at: 1)
    statement.bind(source, at: 2)
    defer { statement.reset() }
    var rows: [Row] = []
    while try statement.step() {
      let entity = Int(clamping: statement.integer(0))
      rows.append(Row(step: step, source: source, entity: entity, destination: statement.integer(1)))
    }
    return rows
  }

  func sources(of object: ManagedObject, step: Int) throws -> [Int64] {
    guard written.contains(step) else { return [] }
    let statement = try connection.statement(SQLText.sourcesOfDestination)
    statement.bind(Int64(step), at: 1)
    statement.bind(Int64(object.entity.number), at: 2)
    statement.bind(object.key, at: 3)
    defer { statement.reset() }
    var keys: [Int64] = []
    while try statement.step() { keys.append(statement.integer(0)) }
    return keys
  }
}
