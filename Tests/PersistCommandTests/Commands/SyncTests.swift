import Foundation
import PersistTestSupport
import Testing

@Suite("persist sync")
struct SyncTests {
  private func run(_ arguments: String...) throws -> Command.Outcome {
    let outcome = try Command.run(arguments)
    #expect(outcome.status == 0, "\(outcome.messages)")
    return outcome
  }

  @Test("Two stores synchronize through a folder, which lists them")
  func folder() throws {
    try withTemporaryFolder { folder in
      func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
      let models = PackageFolder.url.appendingPathComponent("Models/Shop.xcdatamodeld").path
      _ = try run("fill", path("a.sqlite"), "--models", models, "--rows", "3")
      _ = try run("fill", path("b.sqlite"), "--models", models, "--rows", "2", "--seed", "7")
      var sent: [String: Int] = [:]
      for name in ["a", "b", "a"] {
        let report = try run("sync", path("\(name).sqlite"), path("hub"), "--json").jsonLines()
        sent[name, default: 0] += try #require(report.first?["sent"] as? Int)
      }
      #expect(sent.values.allSatisfy { $0 > 0 })
      let counts = try ["a", "b"].map { try run("count", path("\($0).sqlite"), "Tag", "--json").jsonLines() }
      #expect(counts[0].first?["count"] as? Int == 5)
      #expect(counts[0] == counts[1])
      let report = try run("sync", path("a.sqlite"), path("hub"), "--json").jsonLines()
      #expect(report.first?["sent"] as? Int == 0)
      let replicas = try run("replicas", path("hub"), "--json").jsonLines()
      #expect(replicas.count == 2)
      #expect(replicas.compactMap { $0["sent"] as? Int }.sorted() == sent.values.sorted())
    }
  }

  @Test("A store can be the hub, also one that takes part")
  func store() throws {
    try withTemporaryFolder { folder in
      func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
      let models = PackageFolder.url.appendingPathComponent("Models/Shop.xcdatamodeld").path
      for (name, rows) in [("a", "3"), ("b", "2"), ("hub", "1")] {
        _ = try run("fill", path("\(name).sqlite"), "--models", models, "--rows", rows, "--seed", rows)
      }
      let hub = path("hub.sqlite")
      for name in ["a", "b", "a", "hub", "a", "b"] { _ = try run("sync", path("\(name).sqlite"), hub) }
      let counts = try ["a", "b", "hub"].map { try run("count", path("\($0).sqlite"), "Tag", "--json").jsonLines() }
      #expect(counts[0].first?["count"] as? Int == 6)
      #expect(counts[0] == counts[1] && counts[0] == counts[2])
      #expect(try run("replicas", hub, "--json").jsonLines().count == 3)
    }
  }

  @Test("Another hub than before is said, and gets everything in a snapshot")
  func otherHub() throws {
    try withTemporaryFolder { folder in
      func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
      let models = PackageFolder.url.appendingPathComponent("Models/Shop.xcdatamodeld").path
      _ = try run("fill", path("a.sqlite"), "--models", models, "--rows", "3")
      _ = try run("fill", path("b.sqlite"), "--models", models, "--rows", "1", "--seed", "7")
      for _ in 0..<2 { #expect(try !run("sync", path("a.sqlite"), path("hub")).messages.contains("--snapshot")) }
      let note = try run("sync", path("a.sqlite"), path("other")).messages
      #expect(note.contains("With --snapshot, it gets everything"))
      #expect(try !run("sync", path("a.sqlite"), path("other"), "--snapshot").messages.contains("--snapshot"))
      #expect(try !run("sync", path("a.sqlite"), path("other")).messages.contains("--snapshot"))
      _ = try run("sync", path("b.sqlite"), path("other"))
      #expect(try run("count", path("b.sqlite"), "Tag", "--json").jsonLines().first?["count"] as? Int == 4)
      let error = try Command.run(["replicas", "ftp://example.com/notes"])
      #expect(error.status == 1 && error.messages.contains("or https://HOST/PATH."))
    }
  }

  @Test("A server that can't be reached fails with its name, and options for servers need one")
  func server() throws {
    try withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("a.sqlite").path
      let models = PackageFolder.url.appendingPathComponent("Models/Shop.xcdatamodeld").path
      _ = try run("fill", store, "--models", models, "--rows", "1")
      #expect(try Command.run(["sync", store, folder.path, "--header", "A: b"]).status == 2)
      #expect(try Command.run(["sync", store, "https:///sync"]).status == 2)
    }
  }

  @Test("A change set that can't be read is a finding, and doesn't stop the others")
  func damaged() throws {
    try withTemporaryFolder { folder in
      func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
      let models = PackageFolder.url.appendingPathComponent("Models/Shop.xcdatamodeld").path
      _ = try run("fill", path("a.sqlite"), "--models", models, "--rows", "1")
      let other = folder.appendingPathComponent("hub/changes/\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
      try Data("damaged".utf8).write(to: other.appendingPathComponent("0000000000000001.persist"))
      let outcome = try Command.run(["sync", path("a.sqlite"), path("hub")])
      #expect(outcome.status == 3)
      #expect(outcome.messages.contains("change set"))
      #expect(try Command.run(["replicas", path("nothing")]).status == 1)
      #expect(try Command.run(["sync", path("a.sqlite"), path("hub"), "--identify", "Tag"]).status == 2)
    }
  }
}
