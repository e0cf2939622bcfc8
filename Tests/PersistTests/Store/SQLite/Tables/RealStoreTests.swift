import Foundation
import PersistTestSupport
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Real stores", .needsSharedData)
struct RealStoreTests {
  /// The models in the same part of the collection as a store.
  private func models(for store: URL) throws -> [(name: String, model: ManagedObjectModel)] {
    let part = store.path.components(separatedBy: "/coredata/").last?.split(separator: "/").first ?? ""
    return try SharedData.modelContents.filter { $0.path.contains("/coredata/\(part)/") }.map {
      ($0.deletingLastPathComponent().lastPathComponent, try ManagedObjectModel(XMLModelReader.model(at: $0)))
    }
  }

  @Test("At least one of the models beside it fits a store in every table and column")
  func columns() throws {
    for store in SharedData.stores {
      let models = try models(for: store)
      if models.isEmpty { continue }
      let catalog = try StoreCatalog(SQLiteConnection(store, mode: .readOnly))
      let fitting = models.filter {
        TableMap.schemaDifferences(model: $0.model, rows: catalog.numberRows, schema: catalog.schema).isEmpty
      }
      print("\(store.lastPathComponent): \(fitting.map(\.name).sorted())")
      #expect(!fitting.isEmpty, "\(store.path)")
      for (name, model) in fitting {
        let map = TableMap(
          model: model, numbers: EntityNumbers(model: model, rows: catalog.numberRows), schema: catalog.schema)
        for definition in map.tableDefinitions {
          let real = try #require(catalog.schema.table(named: definition.name))
          #expect(
            definition.columns.map { "\($0.name) \($0.type.rawValue)" }
              == real.columns.map { "\($0.name) \($0.declaredType)" }, "\(store.lastPathComponent) \(name)")
        }
      }
    }
  }

  @Test(
    "The embedded model of a store explains every table and column of it, and every row",
    arguments: SharedData.stores)
  func embedded(_ store: URL) throws {
    let connection = try SQLiteConnection(store, mode: .readOnly)
    let catalog = try StoreCatalog(connection)
    let framework = catalog.metadata.frameworkVersion ?? 0
    switch try EmbeddedModel(connection, catalog: catalog) {
    case .none: #expect(framework < 637)
    case .unusable(let error): Issue.record("\(store.lastPathComponent): \(error)")
    case .model(let model):
      let numbers = EntityNumbers(model: model, rows: catalog.numberRows)
      let map = TableMap(model: model, numbers: numbers, schema: catalog.schema)
      #expect(numbers.differences + map.differences + map.unexplained == [])
      for table in map.tables {
        let own = Set(model.hierarchy(of: table.entity).map { map.numbers[$0] })
        for column in table.columns
        where table.entity.property(named: column.property)?.declaringEntity == table.entity.name {
          let numbers = try connection.all(
            "SELECT DISTINCT Z_ENT FROM \(name: table.table) WHERE \(name: column.name) IS NOT NULL"
          ) { Int($0.integer(0)) }
          #expect(own.isSuperset(of: numbers), "\(store.lastPathComponent): \(table.table).\(column.name)")
        }
      }
      var problems: [StoreProblem] = []
      try StoreCheck(connection, map: map, files: ExternalDataFolder(storeAt: store)).run { problems.append($0) }
      // An application can set one end of a relationship without Core Data: the store then contains just that end.
      let oneSided = problems.filter { $0.kind == .oneSidedRelationship && $0.detail.hasSuffix("leads to nothing.") }
      #expect(problems.count == oneSided.count, "\(store.lastPathComponent): \(problems)")
      print(
        "\(store.lastPathComponent): framework \(framework), \(model.entities.count) entities,",
        "\(map.tables.map(\.columns.count).reduce(0, +)) columns, \(map.joinTables.count) join tables,",
        "\(problems.count) problems")
    }
  }
}
