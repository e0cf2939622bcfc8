#if canImport(PersistPostgreSQL)
  import Foundation
  import PersistTestSupport
  import Testing

  @Suite("Commands for online migrations", .needsServer)
  struct OnlineCommandTests {
    /// A folder with two versions that can be served at once, and a third that can't.
    private func withModels(_ body: (_ folder: String) throws -> Void) throws {
      try withTemporaryFolder { folder in
        let versions = [
          "Notes 1": #"<attribute name="text" optional="YES" attributeType="String"/>"#,
          "Notes 2": #"""
            <attribute name="body" optional="YES" attributeType="String" elementID="text"/>
            <attribute name="stars" attributeType="Integer 64" defaultValueString="1"/>
            """#,
          "Notes 3": #"<attribute name="text" optional="YES" attributeType="Integer 64"/>"#,
        ]
        let bundle = folder.appendingPathComponent("Notes.xcdatamodeld")
        for (name, attributes) in versions {
          let version = bundle.appendingPathComponent("\(name).xcdatamodel")
          try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
          let text = """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="Note" representedClassName="Note">\(attributes)</entity></model>
            """
          try Data(text.utf8).write(to: version.appendingPathComponent("contents"))
        }
        try body(folder.path)
      }
    }

    private func succeed(_ arguments: [String]) throws -> Command.Outcome {
      let outcome = try Command.run(arguments)
      #expect(outcome.status == 0, "\(arguments): \(outcome.messages)")
      return outcome
    }

    @Test("A store is planned, expanded, backfilled and contracted")
    func wholeWay() throws {
      try withModels { models in
        try TestServer.withSchema { store in
          _ = try succeed(["fill", store, "--models", models, "--version", "Notes 1", "--rows", "9", "--seed", "1"])
          let arguments = [store, "--models", models, "--to", "Notes 2"]
          let plan = try succeed(["plan"] + arguments + ["--online", "--json"]).json()
          #expect(plan["way"] as? String == "online" && plan["to"] as? String == "Notes 2")
          let steps = try #require(plan["steps"] as? [NSDictionary])
          #expect(steps.contains { $0["property"] as? String == "text" && $0["way"] as? String == "mirrored" })
          let phases = try #require(plan["phases"] as? [NSDictionary])
          #expect(phases.map { $0["name"] as? String } == ["expand", "backfill", "contract"])
          try #expect(succeed(["plan"] + arguments + ["--online"]).output.contains("Locks:"))
          let expanded = try succeed(["expand"] + arguments + ["--json"]).json()
          #expect(expanded["state"] as? String == "expanded" && expanded["from"] as? String == "Notes 1")
          #expect(try Command.run("contract", store).status == 1)
          let served = try succeed(["backfill", store, "--batch", "2", "--json"]).json()
          #expect(served["state"] as? String == "serving")
          let third = try Command.run("expand", store, "--models", models, "--to", "Notes 3")
          #expect(third.status == 1 && third.messages.contains("Notes 2"))
          let done = try succeed(["contract", store, "--models", models, "--json"]).json()
          #expect(done["to"] as? String == "Notes 2")
          try #expect(succeed(["check", store]).status == 0)
          try #expect(succeed(["count", store, "Note where stars == 1"]).output.contains("9"))
        }
      }
    }

    @Test("A plan that isn't possible exits with 3, and an abandoned migration leaves the old version")
    func refusedAndAbandoned() throws {
      try withModels { models in
        try TestServer.withSchema { store in
          _ = try succeed(["fill", store, "--models", models, "--version", "Notes 1", "--rows", "3", "--seed", "1"])
          let before = try succeed(["dump", store, "--json"]).output
          let refused = try Command.run("plan", store, "--models", models, "--to", "Notes 3", "--online", "--json")
          #expect(refused.status == 3)
          let refusals = try #require(refused.json()["refusals"] as? [NSDictionary])
          #expect(refusals.first?["property"] as? String == "text")
          #expect(refusals.first?["operation"] as? String == "changeAttributeType")
          let fix = try #require(refusals.first?["fix"] as? String)
          let text = try Command.run("plan", store, "--models", models, "--to", "Notes 3", "--online").output
          #expect(text.contains("refused   changeAttributeType Note.text: ") && text.contains(fix), "\(text)")
          #expect(try Command.run("expand", store, "--models", models, "--to", "Notes 3").status == 1)
          _ = try succeed(["expand", store, "--models", models, "--to", "Notes 2"])
          _ = try succeed(["abort", store])
          try #expect(succeed(["dump", store, "--json"]).output == before)
          #expect(try Command.run("abort", store).status == 1)
          #expect(try Command.run("backfill", store, "--batch", "0").status == 2)
        }
      }
    }

    @Test("What is parked is listed and copied while a store is expanded, and one that serves two models isn't copied")
    func copies() throws {
      try withModels { models in
        try TestServer.withSchema { store in
          let file = URL(fileURLWithPath: models).appendingPathComponent("Copy.sqlite").path
          let lines = URL(fileURLWithPath: models).appendingPathComponent("Notes.jsonl").path
          _ = try succeed(["fill", store, "--models", models, "--version", "Notes 1", "--rows", "3", "--seed", "1"])
          _ = try succeed(["expand", store, "--models", models, "--to", "Notes 2"])
          _ = try succeed(["backfill", store])
          try #expect(succeed(["abort", store]).output.contains("Parked: 3 values"))
          let parked = try succeed(["parked", store]).output
          #expect(parked.hasPrefix("Note.stars  3 values, of 'Notes 2', since "))
          _ = try succeed(["expand", store, "--models", models, "--to", "Notes 2"])
          try #expect(succeed(["parked", store]).output == parked)
          _ = try succeed(["copy", store, file])
          try #expect(succeed(["parked", file]).output == parked)
          let exported = try succeed(["export", store, lines])
          #expect(exported.messages.contains("Parked values aren't among the objects: 3 values of Note.stars."))
          _ = try succeed(["backfill", store])
          let refused = try Command.run("copy", store, file, "--force")
          #expect(refused.status == 1 && refused.messages.contains("from 'Notes 1' to 'Notes 2'"), "\(refused)")
          #expect(refused.messages.contains("pg_dump"), "\(refused)")
        }
      }
    }
  }
#endif
