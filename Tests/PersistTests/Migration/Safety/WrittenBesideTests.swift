import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite(
  "Migration of an open store that others write", .aboutFiles("the connection by which a store's model was identified"))
struct WrittenBesideTests {
  /// A store that another program writes between the inspection of its rows and its migration.
  private final class WrittenStore: UnmigratedStore {
    private let store: any UnmigratedStore
    private let write: @Sendable () throws -> Void

    init(_ store: any UnmigratedStore, _ write: @escaping @Sendable () throws -> Void) {
      (self.store, self.write) = (store, write)
    }

    var url: URL? { store.url }
    var isEnded: Bool { store.isEnded }

    func inspect<T>(_ catalog: StoreCatalog, _ body: (any StoreInspector) throws -> T) throws -> T? {
      defer { #expect(throws: Never.self) { try write() } }
      return try store.inspect(catalog, body)
    }

    func migrate<T>(_ catalog: StoreCatalog, _ body: (any MigrationConnection) throws -> T) throws -> T? {
      try store.migrate(catalog, body)
    }

    func open(_ model: ManagedObjectModel, options: StoreOptions) throws -> any PersistentStore {
      try store.open(model, options: options)
    }

    func close() { store.close() }
  }

  private let versions: [ModelVersion]

  init() throws {
    versions = try [("1", AttributeType.int64), ("2", .double)].map { name, type in
      ModelVersion(name: name, model: try model(EntityDescription("Counter", attributes: [.init("count", type)])))
    }
  }

  private func make(_ url: URL) throws {
    let coordinator = PersistentStoreCoordinator(model: versions[0].model)
    let info = try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    for number in 1...9 { try context.create("Counter")["count"] = Int64(number) }
    try context.save()
    try coordinator.remove(info)
  }

  /// Migrates a store as `addStore` does, while another program writes a value.
  private func migrate(_ url: URL, writing value: Int64) throws -> Result<MigrationReport, any Error> {
    let location = StoreLocation(url)
    let opening = try location.engine.openStore(
      at: location, ifOf: versions[1].model, registry: nil, options: .automaticMigration)
    guard case .differs(var difference) = opening, let opened = difference.opened else {
      throw CocoaError(.fileReadUnknown)
    }
    defer { opened.close() }
    difference.opened = WrittenStore(opened) {
      try MadeStore.run("UPDATE ZCOUNTER SET ZCOUNT = \(value) WHERE Z_PK = 5", at: url)
    }
    var options = StoreOptions()
    options.knownStore = difference
    return Result {
      try AutomaticMigrator().migrate(
        storeAt: url, to: versions[1], registry: ModelRegistry(versions: versions), options: options)
    }
  }

  private static func isCheck(_ statement: String) -> Bool { statement.contains("COUNT(CASE WHEN typeof(ZCOUNT)") }

  @Test("The rows are checked once before the transaction and once in it, by the connection that identified the store")
  func checks() throws {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Beside-\(UUID().uuidString).sqlite")
      try make(url)
      let census = StatementCensus(of: url)
      defer { census.end() }
      let report = try migrate(url, writing: 50).get()
      #expect(report.way == .inPlace)
      #expect(census.statements.count(where: Self.isCheck) == 2, "\(census.statements)")
      // The other program has one connection of its own.
      #expect(census.connections == 2)
      try MadeStore.expectNewStore(of: versions[1].model, at: url)
      try #expect(MadeStore.rows("SELECT ZCOUNT FROM ZCOUNTER WHERE Z_PK = 5", at: url) == [["50.0"]])
    }
  }

  @Test("A value that doesn't fit prevents the migration even if it was written after the rows were checked")
  func unfit() throws {
    try withTemporaryStore { url in
      try make(url)
      let before = try MadeStore.rows("SELECT * FROM Z_METADATA", at: url)
      let result = try migrate(url, writing: 9_007_199_254_740_993)
      let error = persistError { _ = try result.get() }
      #expect(error?.code == .mappingNotInferable, "\(String(describing: error))")
      try #expect(MadeStore.rows("SELECT * FROM Z_METADATA", at: url) == before)
      try #expect(
        MadeStore.rows("SELECT ZCOUNT FROM ZCOUNTER WHERE Z_PK = 5", at: url) == [["9007199254740993"]])
    }
  }
}
