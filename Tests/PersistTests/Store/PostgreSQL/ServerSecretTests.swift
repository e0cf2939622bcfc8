#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The law: no description, mirror, dump, error or message contains a password, whatever characters it has and
  /// however the connection string is written.
  @Suite("Passwords of servers")
  struct ServerSecretTests {
    /// Every word of the passwords contains this.
    private static let secret = "s3cr3t"
    private static let passwords = [
      "s3cr3t", "s3cr3t/s3cr3t", "s3cr3t@s3cr3t", "/s3cr3t", "@s3cr3t", "s3cr3t:s3cr3t@s3cr3t/s3cr3t", "s3cr3t#1",
      "a%s3cr3t",
    ]

    private func dumped(_ value: Any) -> String {
      var text = ""
      dump(value, to: &text)
      return text + "\(value)" + String(reflecting: value)
    }

    private func expectNone(_ value: Any, _ place: SourceLocation = #_sourceLocation) {
      let text = dumped(value)
      #expect(!text.contains(Self.secret), "\(text.prefix(2000))", sourceLocation: place)
    }

    /// The forms of a connection string with a password, percent-encoded where that is usual or not at all.
    private func forms(_ password: String) -> [String] {
      let encoded = password.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
      return [
        "postgresql://shop:\(encoded)@db.example.com/shop", "postgresql://shop:\(password)@db.example.com/shop",
        "POSTGRES://shop:\(password)@db.example.com:5433/shop?schema=a&sslmode=disable",
        "postgresql://shop@server:\(password)@a,b:1/shop", "postgresql://a/shop?password=\(encoded)",
        "postgresql://a/shop?sslpassword=\(encoded)", "host=a user=shop password='\(password)'",
      ]
    }

    @Test("Locations, descriptions and options", arguments: passwords)
    func values(password: String) throws {
      for form in forms(password) {
        let location: StoreLocation
        do { location = try .postgreSQL(form) } catch {
          expectNone(error)
          continue
        }
        expectNone(location)
        expectNone(PersistentStoreDescription(at: location))
        var options = StoreOptions()
        options.readsFrom = [location]
        expectNone(options)
        expectNone([location: 1])
        guard case .server(let address) = location else { continue }
        expectNone(address)
        #expect(Array(address.settings.values).contains { $0.contains(Self.secret) }, "\(form) keeps the password")
        let leaks = address.settings.filter { !ServerURL.secrets.contains($0.key) && $0.value.contains(Self.secret) }
        #expect(leaks.isEmpty, "\(form)")
        if let url = address.url(showingSecrets: true) {
          expectNone(url.withoutSecrets)
          #expect(ServerAddress(url) == address)
        }
        guard form.contains("://") else { continue }
        #expect(!ServerURL.withoutPasswords("persist: '\(form)' failed").contains(Self.secret), "\(form)")
      }
    }

    @Test("Errors of strings that can't be read", arguments: passwords)
    func malformed(password: String) {
      for text in [
        "host=a password='\(password)", "host=a \(password) password=\(password) \"\(password)\" b",
        "postgresql://shop:\(password)@[::1/shop", "postgresql://shop:\(password)@%zz/shop",
        "postgresql://shop:\(password)@a/shop?\(password)",
      ] {
        if let error = persistError({ _ = try StoreLocation.postgreSQL(text) }) { expectNone(error) }
      }
    }

    @Test("Everything that an open store has, its migration and its errors", .needsServer)
    func openStore() throws {
      let model = ModelDescription(entities: [EntityDescription("Item", attributes: [.init("name", .string)])])
      let newer = ModelDescription(entities: [
        EntityDescription("Item", attributes: [.init("name", .string), .init("size", .int32)])
      ])
      try TestServer.withSchema { text in
        let secret = text.replacing("persist@", with: "persist:\(Self.secret)/x@")
        let location = try StoreLocation.postgreSQL(secret)
        let registry = ModelRegistry(versions: [
          ModelVersion(name: "1", model: try ManagedObjectModel(model)),
          ModelVersion(name: "2", model: try ManagedObjectModel(newer)),
        ])
        let old = PersistentStoreCoordinator(model: registry.versions[0].model)
        try old.addStore(location)
        expectNone(old)
        expectNone(try #require(old.persistentStores.first))
        let context = ManagedObjectContext(old)
        try context.make("Item", ["name": "a"])
        try context.save()
        expectNone(context)
        let url = try #require(location.url)
        var options = StoreOptions.automaticMigration
        options.readsFrom = [location]
        let coordinator = PersistentStoreCoordinator(model: registry.versions[1].model, registry: registry)
        let migrator = AutomaticMigrator()
        expectNone(try migrator.migrate(storeAt: url, to: registry.versions[1], registry: registry))
        try coordinator.addStore(location, options: options)
        expectNone(coordinator)
        _ = try ManagedObjectContext(coordinator).fetch(FetchRequest("Item"))
        expectNone(coordinator)
        let error = try #require(persistError { _ = try context.fetch(FetchRequest("Item")) })
        expectNone(error)
        let wrong = try StoreLocation.postgreSQL("postgresql://nobody:\(Self.secret)/@127.0.0.1:1/shop")
        expectNone(try #require(persistError { try coordinator.addStore(wrong) }))
      }
    }
  }
#endif
