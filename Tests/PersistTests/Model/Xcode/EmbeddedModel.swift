import LinkedSQLite
import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The compressed model in a real store.
func modelCache(ofStore path: String) throws -> Data {
  try firstBlob(of: "SELECT Z_CONTENT FROM Z_MODELCACHE", inStore: path)
}

/// The first result of a query in a real store.
///
/// Read from a copy, and without the framework's own store, which these tests don't test.
func firstBlob(of query: String, inStore path: String) throws -> Data {
  try withCopy(ofStore: path) { url in
    var connection: OpaquePointer?
    defer { sqlite3_close(connection) }
    try #require(sqlite3_open_v2(url.path, &connection, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
    TestKey.unlock(connection)
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    try #require(sqlite3_prepare_v2(connection, query, -1, &statement, nil) == SQLITE_OK)
    try #require(sqlite3_step(statement) == SQLITE_ROW)
    let bytes = try #require(sqlite3_column_blob(statement, 0))
    return Data(bytes: bytes, count: Int(sqlite3_column_bytes(statement, 0)))
  }
}

/// Real stores with an embedded model, and the source of the version that wrote them.
let storesWithSources: [(store: String, source: String)] = {
  var pairs: [(store: String, source: String)] = [
    ("cars/Fixtures/SampleModel_V1.sqlite", "cars/SampleModel.xcdatamodeld/SampleModel.xcdatamodel"),
    ("cars/Fixtures/SampleModel_V2.sqlite", "cars/SampleModel.xcdatamodeld/SampleModel2.xcdatamodel"),
    ("content/BundledPreseededDatabaseTests/Test.sqlite", "content/Test.xcdatamodeld/Test.xcdatamodel"),
  ]
  for number in 1...5 {
    let version = number == 1 ? "" : " \(number)"
    pairs.append(("moody/Moody\(version).moody", "moody/Moody.xcdatamodeld/Moody\(version).xcdatamodel"))
    if number <= 4 {
      let folder = "bookmarks/BookmarksModel.xcdatamodeld"
      pairs.append(("bookmarks/Bookmarks_V\(number).sqlite", "\(folder)/BookmarksModel\(version).xcdatamodel"))
    }
    if number <= 3 {
      let folder = "posts/Model/CoreDataMigration_Example.xcdatamodeld"
      pairs.append(
        (
          "posts/CoreDataMigration_Example_\(number).sqlite",
          "\(folder)/CoreDataMigration_Example\(version).xcdatamodel"
        ))
    }
  }
  return pairs
}()

/// Compiled models and their sources.
let compiledWithSources: [(compiled: String, source: String)] = ["", "2", "3"].map {
  ("cars/Fixtures/SampleModel.momd/SampleModel\($0).mom", "cars/SampleModel.xcdatamodeld/SampleModel\($0).xcdatamodel")
}

extension ModelDescription {
  /// The description without parts that only a source contains, and with lists in name order.
  func asCompiled(keepingClasses: Bool = true) -> ModelDescription {
    var model = self
    model.unknown = [:]
    model.entities.sort { $0.name < $1.name }
    for index in model.entities.indices {
      var entity = model.entities[index]
      entity.unknown = [:]
      if !keepingClasses { (entity.moduleName, entity.className) = (nil, nil) }
      entity.attributes.sort { $0.name < $1.name }
      for attribute in entity.attributes.indices {
        entity.attributes[attribute].usesScalarType = false
        if entity.attributes[attribute].type == .transformable { entity.attributes[attribute].valueClassName = nil }
        entity.attributes[attribute].unknown = [:]
      }
      entity.relationships.sort { $0.name < $1.name }
      for relationship in entity.relationships.indices { entity.relationships[relationship].unknown = [:] }
      entity.fetchedProperties.sort { $0.name < $1.name }
      entity.indexes.sort { $0.name < $1.name }
      model.entities[index] = entity
    }
    return model
  }
}
