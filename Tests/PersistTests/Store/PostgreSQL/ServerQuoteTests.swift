#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The law: a store works with every name, and with every setting for quoting names.
  @Suite("Names on a server", .needsServer)
  struct ServerQuoteTests {
    private static let marks = ["a\"b", "\"", "a\"\"b", "it's", "a, b", "a (b)", "größe \"x\"", "a.b"]

    private static func model(_ mark: String, version: Int) throws -> ManagedObjectModel {
      let name = AttributeDescription("n\(mark)", .string)
      let count = AttributeDescription("c\(mark)", version == 1 ? .int32 : .int64)
      return try ManagedObjectModel(
        withFlaws: ModelDescription(entities: [
          EntityDescription(
            "E\(mark)", attributes: version == 1 ? [name, count] : [name, count, .init("more\(mark)", .string)],
            relationships: [
              .init("one\(mark)", to: "F\(mark)", inverse: "many\(mark)"),
              .init("links\(mark)", toMany: "F\(mark)", inverse: "back\(mark)"),
            ],
            uniquenessConstraints: [["n\(mark)"]], indexes: [FetchIndexDescription("i\(mark)", on: "c\(mark)")]),
          EntityDescription(
            "F\(mark)", attributes: [name],
            relationships: [
              .init("many\(mark)", toMany: "E\(mark)", inverse: "one\(mark)", isOrdered: true),
              .init("back\(mark)", toMany: "E\(mark)", inverse: "links\(mark)"),
            ]),
        ]))
    }

    private func use(_ url: URL, _ mark: String) throws {
      let registry = ModelRegistry(versions: [
        ModelVersion(name: "1", model: try Self.model(mark, version: 1)),
        ModelVersion(name: "2", model: try Self.model(mark, version: 2)),
      ])
      for version in registry.versions {
        let coordinator = PersistentStoreCoordinator(model: version.model, registry: registry)
        var options = StoreOptions.automaticMigration
        options.historyKeeps = .oldValues
        try coordinator.addStore(at: url, options: options)
        let context = ManagedObjectContext(coordinator)
        let one = try context.make("F\(mark)", ["n\(mark)": "one\(version.name)"])
        for number in 0..<3 {
          let object = try context.make(
            "E\(mark)", ["n\(mark)": "\(number) of \(version.name)", "c\(mark)": number, "one\(mark)": one])
          try object.many("links\(mark)").insert(one)
        }
        try context.save()
        one["n\(mark)"] = "changed"
        try context.save()
        let other = ManagedObjectContext(coordinator)
        #expect(try other.count(for: FetchRequest("E\(mark)")) == 3 * (Int(version.name) ?? 0), "\(mark)")
        #expect(try other.fetch(FetchRequest("F\(mark)")).last?.many("many\(mark)").count == 3, "\(mark)")
        try coordinator.remove(#require(coordinator.persistentStores.first))
      }
    }

    @Test("Names with marks of SQL", arguments: marks)
    func oddNames(mark: String) throws {
      try TestServer.withSchema { text in try use(#require(URL(string: text)), mark) }
    }

    @Test("A user whose server quotes all names", arguments: ["", "a\"b"])
    func quotesAll(mark: String) throws {
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text + "&options=-c%20quote_all_identifiers%3Don"))
        try use(url, mark)
        // Made with one setting and opened with the other.
        let plain = PersistentStoreCoordinator(model: try Self.model(mark, version: 2))
        try plain.addStore(at: #require(URL(string: text)))
      }
    }
  }
#endif
