/// The temporary table of a connection for associations between copied objects.
struct SQLiteAssociations: ObjectAssociations {
  let connection: SQLiteConnection

  init(_ connection: SQLiteConnection) throws {
    self.connection = connection
    try connection.execute(SQLText.createAssociations)
    try connection.execute(SQLText.indexAssociations)
  }

  func add(_ associations: [ObjectAssociation]) throws {
    // A single transaction, of the temporary table only: separate ones would each scan all changed pages of that table.
    try connection.readTransaction {
      for association in associations {
        let statement = try connection.statement(SQLText.addAssociation)
        statement.bind(Int64(association.step), at: 1)
        statement.bind(association.source, at: 2)
        statement.bind(Int64(association.entity), at: 3)
        statement.bind(association.destination, at: 4)
        try statement.run()
      }
    }
  }

  func destinations(of source: Int64, step: Int) throws -> [ObjectAssociation] {
    let statement = try connection.statement(SQLText.destinationsOfSource)
    statement.bind(Int64(step), at: 1)
    statement.bind(source, at: 2)
    defer { statement.reset() }
    var found: [ObjectAssociation] = []
    while try statement.step() {
      let entity = Int(clamping: statement.integer(0))
      found.append(
        ObjectAssociation(step: step, source: source, entity: entity, destination: statement.integer(1)))
    }
    return found
  }

  func sources(of destination: Int64, entity: Int, step: Int) throws -> [Int64] {
    let statement = try connection.statement(SQLText.sourcesOfDestination)
    statement.bind(Int64(step), at: 1)
    statement.bind(Int64(entity), at: 2)
    statement.bind(destination, at: 3)
    defer { statement.reset() }
    var keys: [Int64] = []
    while try statement.step() { keys.append(statement.integer(0)) }
    return keys
  }
}
