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
      for name in ["a", "b", "a"] { _ = try run("sync", path("\(name).sqlite"), path("hub")) }
      let counts = try ["a", "b"].map { try run("count", path("\($0).sqlite"), "Tag", "--json").jsonLines() }
      #expect(counts[0].first?["count"] as? Int == 5)
      #expect(counts[0] == counts[1])
      let report = try run("sync", path("a.sqlite"), path("hub"), "--json").jsonLines()
      #expect(report.first?["sent"] as? Int == 0)
      let replicas = try run("replicas", path("hub"), "--json").jsonLines()
      #expect(replicas.count == 2)
      #expect(replicas.allSatisfy { $0["sent"] as? Int == 1 })
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
