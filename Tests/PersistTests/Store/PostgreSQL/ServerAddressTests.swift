#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The law: the URL of a server's address leads to the same server.
  @Suite("Addresses of servers")
  struct ServerAddressTests {
    private func expectSame(_ address: ServerAddress, _ place: SourceLocation = #_sourceLocation) throws {
      let url = try #require(address.url(showingSecrets: true), "\(address)", sourceLocation: place)
      #expect(ServerAddress(url) == address, "\(url)", sourceLocation: place)
    }

    @Test(
      "A connection string and its URL name the same server",
      arguments: [
        "postgresql://a:5433,b:5434/shop?target_session_attrs=read-write", "postgresql://a,b/shop?schema=s",
        "postgresql://a:5433/shop", "postgresql://[::1]:5433/shop", "postgresql:///shop?host=/tmp&port=5433",
        "postgresql://user:p%40ss%3Aword@a/shop", "host=a,b port=5433 dbname=shop", "host=::1 dbname=shop",
        "host=a port=05433 user='a b' password='' dbname=/shop", "hostaddr=127.0.0.1 port=5433", "PostgreSQL://a/shop",
        "POSTGRES://a/shop",
      ])
    func strings(text: String) throws {
      guard case .server(let address) = try StoreLocation.postgreSQL(text) else { return }
      try expectSame(address)
    }

    @Test("The reason for which a connection string can't be read is libpq's, without secrets")
    func unreadable() throws {
      let error = #expect(throws: PersistenceError.self) {
        try StoreLocation.postgreSQL("postgresql://user:secret@%zz/shop")
      }
      #expect(error?.code == .invalidRequest)
      #expect(error?.message.contains("percent-encoded") == true, "\(error?.message ?? "")")
      #expect(error?.description.contains("secret") == false)
      #expect(error?.description.contains("SQLite") == false)
    }

    @Test("A schema's name is neither empty nor longer than PostgreSQL's limit in bytes")
    func schemas() throws {
      for name in ["", String(repeating: "x", count: 64), String(repeating: "ü", count: 32)] {
        let named = #expect(throws: PersistenceError.self) {
          try StoreLocation.postgreSQL("postgresql:///shop?schema=\(name)")
        }
        #expect(named?.code == .invalidRequest)
        let location = StoreLocation.server(ServerAddress(settings: [:], schema: name))
        let opened = #expect(throws: PersistenceError.self) { try PostgreSQLEngine().address(location) }
        #expect(opened?.code == .invalidRequest)
      }
      let longest = String(repeating: "x", count: 63)
      let location = try StoreLocation.postgreSQL("postgresql:///shop", schema: longest)
      guard case .server(let address) = location else { return }
      #expect(address.schema == longest)
    }

    @Test("Any settings")
    func settings() throws {
      let names = [
        "host", "port", "user", "password", "dbname", "hostaddr", "target_session_attrs", "sslmode", "sslpassword",
        "options", "application_name",
      ]
      let parts = [
        "a", "B", "1", "5433", ",", ":", "/", "@", "?", "#", "%", "&", "=", "+", " ", "-", "[", "]", ".", ";", "'", "\\",
        "ü", "e\u{301}", "𝄞", "%41", "::1",
      ]
      var random = SeededRandom(seed: 1)
      for _ in 0..<3000 {
        var settings: [String: String] = [:]
        for name in names where Bool.random(using: &random) {
          settings[name] = (0..<Int.random(in: 1...4, using: &random)).map { _ in
            parts[Int.random(in: 0..<parts.count, using: &random)]
          }.joined()
        }
        if Bool.random(using: &random) { settings["port"] = "\(Int.random(in: -1...70_000, using: &random))" }
        try expectSame(ServerAddress(settings: settings, schema: Bool.random(using: &random) ? "persist" : "a b&c"))
      }
    }
  }
#endif
