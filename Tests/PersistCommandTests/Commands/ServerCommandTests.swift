#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  @Suite("Commands for stores on servers", .needsServer)
  struct ServerCommandTests {
    private let shop = PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld").path

    private func succeed(_ arguments: [String]) throws -> Command.Outcome {
      let outcome = try Command.run(arguments)
      #expect(outcome.status == 0, "\(arguments): \(outcome.messages)")
      return outcome
    }

    private func fill(_ store: String, version: String = "Shop") throws {
      _ = try succeed(["fill", store, "--models", shop, "--version", version, "--rows", "25", "--seed", "3"])
    }

    private func dump(_ store: String) throws -> String { try succeed(["dump", store, "--json"]).output }

    @Test("A command shows the same for a store on a server as for one in a file")
    func reading() throws {
      try withTemporaryFolder { folder in
        try TestServer.withSchema { server in
          let file = folder.appendingPathComponent("Shop.sqlite").path
          for store in [file, server] { try fill(store) }
          let calls = [
            ["dump", "STORE", "--json"], ["count", "STORE", "Item where price > 5"],
            ["fetch", "STORE", "Item where name BEGINSWITH 'a' sort by name desc, price limit 3", "--json"],
            ["fetch", "STORE", "Item sort by name", "--columns", "name,price", "--csv"], ["show", "STORE", "Item/7"],
            ["check", "STORE"], ["check", "STORE", "--json"], ["history", "STORE", "--quiet"],
          ]
          for call in calls {
            let outputs = try [file, server].map { store in
              try succeed(call.map { $0 == "STORE" ? store : $0 }).output
            }
            #expect(outputs[0] == outputs[1], "\(call)")
          }
          let inspected = try succeed(["inspect", server, "--models", shop, "--json"]).json()
          let store = try #require(inspected["store"] as? NSDictionary)
          #expect(store["type"] as? String == "PostgreSQL" && store["version"] as? String == "Shop")
          try #expect(succeed(["explain", server, "Item where price > 5"]).output.contains("SELECT"))
        }
      }
    }

    @Test("Errors of an import into a server name the file and line", arguments: [
      (#"{"entity": "Label", "attributes": {"text": null}}"#, "required"),
      (#"{"entity": "Item", "pk": 1, "attributes": {"name": "Tea"}}"#, "already"),
      (#"{"entity": "Label", "pk": 900, "attributes": {"text": "a"}}"#, "already"),
    ])
    func importedLines(_ wrong: (line: String, words: String)) throws {
      try withTemporaryFolder { folder in
        try TestServer.withSchema { server in
          try fill(server)
          let file = folder.appendingPathComponent("wrong.jsonl")
          let right = #"{"entity": "Label", "pk": 900, "attributes": {"text": "b"}}"#
          try Data("\(right)\n\(wrong.line)\n".utf8).write(to: file)
          let before = try dump(server)
          let outcome = try Command.run("import", server, file.path)
          #expect(outcome.status == 1 && outcome.messages.contains(wrong.words), "\(outcome.messages)")
          try #expect(dump(server) == before)
          #expect(outcome.messages.contains("wrong.jsonl:2"), "\(outcome.messages)")
        }
      }
    }

    @Test("What is parked in a file comes back on a server, and what is parked there in a file")
    func parked() throws {
      try withTemporaryFolder { folder in
        try TestServer.withSchema { server in
          let file = folder.appendingPathComponent("Shop.sqlite").path
          try fill(file, version: "Shop 3")
          let before = try dump(file)
          let down = try succeed(["migrate", file, "--models", shop, "--to", "Shop", "--json"]).json()
          #expect((down["parked"] as? Int ?? 0) > 100)
          _ = try succeed(["copy", file, server])
          let up = try succeed(["migrate", server, "--models", shop, "--json"]).json()
          #expect(up["restored"] as? Int == down["parked"] as? Int)
          try #expect(dump(server) == before)
          _ = try succeed(["migrate", server, "--models", shop, "--to", "Shop"])
          _ = try succeed(["copy", server, file, "--force"])
          let back = try succeed(["migrate", file, "--models", shop, "--json"]).json()
          #expect(back["restored"] as? Int == down["parked"] as? Int)
          try #expect(dump(file) == before)
        }
      }
    }

    @Test("A store on a server is planned, migrated and drawn as one in a file")
    func migrating() throws {
      try withTemporaryFolder { folder in
        try TestServer.withSchema { server in
          let file = folder.appendingPathComponent("Shop.sqlite").path
          for store in [file, server] {
            try fill(store)
            let plan = try succeed(["plan", store, "--models", shop, "--json"]).json()
            #expect(plan["way"] as? String == "copy" || plan["way"] as? String == "inPlace")
            _ = try succeed(["migrate", store, "--models", shop, "--allow-loss", "--quiet"])
          }
          try #expect(dump(file) == dump(server))
          let again = try succeed(["migrate", server, "--models", shop]).output
          #expect(again.contains("already"))
          let picture = folder.appendingPathComponent("a.svg")
          _ = try succeed(["diagram", server, "--svg", picture.path])
          try #expect(String(contentsOf: picture, encoding: .utf8).contains("Item"))
        }
      }
    }

    @Test("Objects are exported from a server and imported into one")
    func exchange() throws {
      try withTemporaryFolder { folder in
        try TestServer.withSchema { server in
          try TestServer.withSchema { other in
            try fill(server)
            let lines = folder.appendingPathComponent("all.jsonl").path
            _ = try succeed(["export", server, lines])
            _ = try succeed(["import", other, lines, "--models", shop, "--version", "Shop"])
            try #expect(dump(other) == dump(server))
            // The import is one transaction: the same keys again fail as a whole.
            try #expect(Command.run("import", other, lines).status == 1)
            try #expect(dump(other) == dump(server))
          }
        }
      }
    }

    @Test("A store that is copied from place to place has the same objects, identifier and metadata")
    func copying() throws {
      try withTemporaryFolder { folder in
        try TestServer.withSchema { server in
          try TestServer.withSchema { other in
            let places = [
              folder.appendingPathComponent("First.sqlite").path, server, other,
              folder.appendingPathComponent("Second.sqlite").path, folder.appendingPathComponent("Third.sqlite").path,
            ]
            try fill(places[0])
            let identifiers = { (place: String) throws -> String in
              let store = try succeed(["inspect", place, "--json"]).json()["store"] as? NSDictionary
              return try #require(store?["uuid"] as? String)
            }
            for (from, to) in zip(places, places.dropFirst()) {
              let copied = try succeed(["copy", from, to, "--json"]).json()
              #expect((copied["objects"] as? Int ?? 0) > 100 && (copied["values"] as? Int ?? 0) > 500)
              #expect(copied["seconds"] is Double)
              try #expect(dump(to) == dump(places[0]))
              try #expect(identifiers(to) == identifiers(places[0]))
              try #expect(succeed(["check", to]).output == "ok\n")
            }
          }
        }
      }
    }

    @Test("A store without its model is copied with those that --models names", .needsSharedData)
    func copyingWithModels() throws {
      let models = try SharedData.url("employees").path
      try withCopy(ofStore: "employees/Stores/MWKCoreDataTests.sqlite") { url in
        try TestServer.withSchema { server in
          let refused = try Command.run("copy", url.path, server)
          #expect(refused.status == 1 && refused.messages.contains("contains no readable model"))
          _ = try succeed(["copy", url.path, server, "--models", models])
          let before = try succeed(["dump", url.path, "--models", models, "--json"]).output
          #expect(try dump(server) == before && !before.isEmpty)
          let folder = url.deletingLastPathComponent()
          let back = folder.appendingPathComponent("Back").path
          let beside = folder.appendingPathComponent("Beside").path
          _ = try succeed(["copy", server, back])
          try #expect(dump(back) == before)
          _ = try succeed(["copy", url.path, beside, "--models", models])
          try #expect(succeed(["dump", beside, "--models", models, "--json"]).output == before)
        }
      }
    }

    @Test("Rows that others wrote and Persist can't use are found on a server, and the exit status is 3")
    func check() throws {
      try TestServer.withSchema { server in
        try fill(server)
        let url = try #require(URL(string: server))
        try ForeignSQL.run("UPDATE item SET name = NULL WHERE id = 2", at: url)
        try ForeignSQL.run("UPDATE party SET entity = 99 WHERE id = 4", at: url)
        let outcome = try Command.run("check", server, "--models", shop, "--json")
        #expect(outcome.status == 3)
        let problems = try #require(try outcome.json()["problems"] as? [NSDictionary])
        let missing = problems.first { $0["kind"] as? String == "missingValue" }
        #expect(missing?["entity"] as? String == "Item" && missing?["property"] as? String == "name")
        #expect(missing?["pk"] as? Int == 2)
        #expect(problems.contains { $0["kind"] as? String == "unknownEntity" && $0["pk"] as? Int == 4 })
      }
    }

    @Test("A store isn't replaced unless told so, and then completely")
    func replacing() throws {
      try withTemporaryFolder { folder in
        try TestServer.withSchema { server in
          let file = folder.appendingPathComponent("Shop.sqlite").path
          try fill(file, version: "Shop 2")
          try fill(server)
          let before = try dump(server)
          let refused = try Command.run("copy", file, server)
          #expect(refused.status == 1 && refused.messages.contains("--force"))
          try #expect(dump(server) == before)
          _ = try succeed(["copy", file, server, "--force"])
          try #expect(dump(server) == dump(file))
          _ = try succeed(["copy", server, file, "--force"])
          try #expect(dump(server) == dump(file))
          // Something else than a store is never replaced.
          let text = folder.appendingPathComponent("letter.txt")
          try Data("Dear reader".utf8).write(to: text)
          try #expect(Command.run("copy", server, text.path, "--force").status == 1)
          try #expect(String(contentsOf: text, encoding: .utf8) == "Dear reader")
          try #expect(Command.run("copy", file, file, "--force").status == 1)
        }
      }
    }

    @Test("A copy that fails leaves the destination as it was, and nothing beside it")
    func failedCopy() throws {
      try withTemporaryFolder { folder in
        try TestServer.withSchema { server in
          let file = folder.appendingPathComponent("Note.sqlite")
          let model = try ManagedObjectModel(
            ModelDescription(entities: [EntityDescription("Note", attributes: [.init("text", .string)])]))
          let coordinator = PersistentStoreCoordinator(model: model)
          try coordinator.addStore(at: file)
          let context = ManagedObjectContext(coordinator)
          for index in 0..<3000 {
            ManagedObject(entity: "Note", context: context)["text"] = index == 2500 ? "a\u{0}b" : "a"
          }
          try context.save()
          let location = try StoreLocation.postgreSQL(server)
          guard case .server(let address) = location else { return }
          for isTaken in [false, true] {
            if isTaken { try fill(server) }
            let before = isTaken ? try dump(server) : ""
            let outcome = try Command.run("copy", file.path, server, "--force")
            #expect(outcome.status == 1 && outcome.messages.contains("text"), "\(outcome.messages)")
            if isTaken {
              try #expect(dump(server) == before)
            } else {
              try #expect(location.engine.canCreateStore(at: location))
            }
            let remains = try PostgreSQLEngine().withPool(of: location) { pool in
              try pool.read { session in
                try session.first(
                  "SELECT count(*) FROM pg_namespace WHERE nspname LIKE \(text: address.schema + "\\_copy%")"
                ) { $0.integer($1, 0) }
              }
            }
            #expect(remains == 0)
          }
        }
      }
    }

    @Test("Work that only files allow says so")
    func onlyFiles() throws {
      try withTemporaryFolder { folder in
        try TestServer.withSchema { server in
          try fill(server)
          let file = folder.appendingPathComponent("a.sql").path
          let calls: [([String], String)] = [
            (["sql", "status", server, "--files", folder.path], "SQLite databases"),
            (["check", server, "--repair"], "repair the copy"),
            (["plan", server, "--models", shop, "--sql", file], "stores in files"),
            (["export", server, server], "persist copy"), (["import", server, server], "persist copy"),
            (["migrate", server, "--models", shop, "--backup", server], "A backup is a file"),
            (["migrate", server, "--models", shop, "--allow-loss", "--backup", file], "pg_dump"),
          ]
          for (call, words) in calls {
            let outcome = try Command.run(call)
            #expect(outcome.status == 1 && outcome.messages.contains(words), "\(call.prefix(2)): \(outcome.messages)")
          }
          try #expect(FolderSnapshot(folder).entries.isEmpty)
        }
      }
    }

    @Test("A password appears in no output, whatever fails")
    func passwords() throws {
      let secret = "sesame"
      try withTemporaryFolder { folder in
        try TestServer.withSchema { server in
          try fill(server)
          let own = try #require(URLComponents(string: server))
          func url(_ change: (inout URLComponents) -> Void = { _ in }) -> String {
            var parts = own
            parts.password = secret
            change(&parts)
            return parts.string ?? ""
          }
          let file = folder.appendingPathComponent("a").path
          let calls = [
            ["inspect", url()], ["inspect", url(), "--json"], ["inspect", url { $0.port = 1 }],
            ["inspect", url { $0.path = "/none" }], ["inspect", url { $0.queryItems?[0].value = "none" }],
            ["inspect", url { $0.queryItems?.append(URLQueryItem(name: "nonsense", value: secret)) }],
            ["inspect", url { $0.host = "none.invalid" }, "--json"], ["count", url(), "None"],
            ["count", url(), "Item", url()], ["copy", url(), url()], ["copy", file, url(), "--force"],
            ["copy", url(), file + "/none/a.sqlite"], ["sql", "status", url(), "--files", folder.path],
            ["diff", url()], ["migrate", url(), "--models", shop, "--backup", file], ["export", url(), url()],
            ["import", url(), file], ["show", url(), "x-coredata://other/Item/p1"], ["nonsense", url()],
            ["plan", "postgresql://persist:\(secret)@[1/x", "--models", shop],
          ]
          for call in calls {
            let outcome = try Command.run(call)
            #expect(!(outcome.output + outcome.messages).contains(secret), "\(call[0])")
          }
          let shown = try succeed(["inspect", url()]).output
          #expect(shown.contains("store    postgresql://persist@"))
        }
      }
    }
  }
#endif
