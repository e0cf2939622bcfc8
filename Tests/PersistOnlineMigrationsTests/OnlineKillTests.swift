import Foundation
import Persist
import PersistOnlineMigrations
import PersistPostgreSQL
import PersistTestSupport
import PersistTools
import Synchronization
import Testing

/// The law: wherever an online migration is killed, the store is in one of its states, complete, and goes on from
/// there.
@Suite("Killed online migrations", .needsServer, .serialized, .onOwnThread)
struct OnlineKillTests {
  @Test(
    "Whichever flight is the last, before or after the server has run it, nothing is lost",
    .law("online-kills", short: 8, long: 300))
  func kills() {
    CutConnections.install()
    forEachSeed { seed in
      var numbers = SeededRandom(seed: seed)
      let (old, new) = (try OnlineShop.old(), try OnlineShop.new(isRetyped: seed % 2 == 0, isSingle: seed % 3 == 0))
      try OnlineShop.withStore { url in
        let name = "seed \(seed)"
        let first = try OnlineProgram(old, url)
        for number in 0..<5 {
          let item = try first.insert("Item", ["name": "Item \(number)", "colour": "red"])
          item["category"] = try first.insert("Category", ["label": "Category \(number)"])
          item["tags"] = RelationshipSet([try first.insert("Tag", ["label": "Tag \(number)"])])
        }
        try first.save()
        let before = try first.dump()
        try first.close()
        let migration = OnlineMigration(storeAt: url)
        var pace = BackfillPace()
        pace.batchSize = 2
        let isAbandoned = Bool.random(using: &numbers)
        let steps: [() throws -> Void] = [
          { try migration.expand(to: new) }, { try migration.backfill(pace: pace) },
          { if isAbandoned { try migration.abort() } else { try migration.contract() } },
        ]
        for (index, step) in steps.enumerated() {
          // A flight in the middle, until the step succeeds without being cut.
          for _ in 0..<3 {
            CutConnections.cut(after: Int.random(in: 0..<40, using: &numbers), Bool.random(using: &numbers), of: url)
            let result = Result { try step() }
            CutConnections.cut(after: nil, false, of: url)
            let state = try migration.status().state
            let isAtEnd = index == 2 && state == .none
            if case .success = result { break }
            try expectComplete(url, old, new, before, "\(name), step \(index), \(state)", isAtEnd && !isAbandoned)
            if isAtEnd { break }
          }
          if try index < 2 || migration.status().state != .none { try step() }
        }
        try #expect(migration.status().state == .none, "\(name)")
        try expectComplete(url, old, new, before, "\(name), end", !isAbandoned)
        var problems: [StoreProblem] = []
        try StoreLocation.postgreSQL(url.absoluteString).check { problems.append($0) }
        #expect(problems.isEmpty, "\(name): \(problems)")
      }
    }
  }

  /// - Parameter hasNew: Whether the store has the new model alone.
  private func expectComplete(
    _ url: URL, _ old: ModelVersion, _ new: ModelVersion, _ before: [String], _ name: String, _ hasNew: Bool
  ) throws {
    if hasNew {
      let program = try OnlineProgram(new, url)
      try #expect(program.values("Item", "title") == (0..<5).map { "Item \($0)" }, "\(name)")
      try #expect(program.all("Item").allSatisfy { OnlineProgram.allKeys($0["labels"]).count == 1 }, "\(name)")
      let counts = try Set(program.values("Item", "count"))
      #expect(counts == ["nil"] || counts == ["7"], "\(name): \(counts)")
      try program.close()
    } else {
      let program = try OnlineProgram(old, url)
      try #expect(program.dump() == before, "\(name)")
      try program.close()
    }
  }
}

/// Connections to servers that end at a chosen flight.
enum CutConnections {
  private struct Cut {
    var remaining: Int
    let runsLast: Bool
  }

  private static let cuts = Mutex<[String: Cut]>([:])
  private static let installation: Void = ServerDrivers.install(Driver(inner: ServerDrivers.current))

  static func install() { installation }

  /// - Parameters:
  ///   - count: The number of flights that succeed; nil for all.
  ///   - runsLast: Whether the server runs the flight that is cut.
  static func cut(after count: Int?, _ runsLast: Bool, of url: URL) {
    guard let schema = ServerAddress(url)?.schema else { return }
    cuts.withLock { $0[schema] = count.map { Cut(remaining: $0, runsLast: runsLast) } }
  }

  /// Whether a flight is cut, and whether the server runs it.
  private static func next(_ schema: String) -> Bool? {
    cuts.withLock { cuts in
      guard let cut = cuts[schema] else { return nil }
      guard cut.remaining == 0 else {
        cuts[schema]?.remaining -= 1
        return nil
      }
      // Later connections, which ask for the outcome, aren't cut.
      cuts[schema] = nil
      return cut.runsLast
    }
  }

  private struct Driver: ServerDriver {
    let inner: any ServerDriver

    func connect(to address: ServerAddress, _ patience: ServerPatience) throws -> any ServerConnection {
      let schema = address.schema
      return ForwardedConnection(try inner.connect(to: address, patience)) { connection, statements in
        guard let runsLast = CutConnections.next(schema) else { return try connection.run(statements) }
        if runsLast { _ = try? connection.run(statements) }
        connection.close()
        throw ServerFailure(state: "08006", message: "The connection was cut.", isDisconnected: true)
      }
    }
  }
}
