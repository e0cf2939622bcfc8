#if canImport(PersistPostgreSQL)
  import Foundation
  import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist

  /// Stores that move between files and a server.
  @Suite("Moving stores to a server and back", .needsServer)
  struct ServerMoveTests {
    /// The transactions of a store's history in words.
    private func history(at location: StoreLocation) throws -> [String] {
      let identified = try location.engine.identifyStore(at: location, registry: nil)
      let store = try location.engine.openStore(
        at: location, model: identified.model, options: StoreOptions(isReadOnly: true), allowsGaps: false)
      defer { try? store.close() }
      var lines: [String] = []
      try store.history?.forEachTransaction(HistoryQuery()) { transaction in
        lines.append("\(transaction.transactionNumber) \(transaction.timestamp.timeIntervalSinceReferenceDate)")
        lines.append("\(transaction.author ?? "") \(transaction.contextName ?? "") \(transaction.processID ?? "")")
        for change in transaction.changes ?? [] {
          let kept = (change.tombstone ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
          lines.append("\(change.changeID) \(words(change)) \(kept)")
        }
      }
      return lines
    }

    /// What a check finds, except for what only files have.
    private func problems(of location: StoreLocation) throws -> Set<StoreProblem> {
      var problems: Set<StoreProblem> = []
      let others: Set<StoreProblem.Kind> = [
        .wrongType, .damagedDatabase, .textIndex, .danglingHistory, .missingFile, .orphanFile, .unfinishedWork,
        .keyCounter,
      ]
      try location.check(registry: nil) { if !others.contains($0.kind) { problems.insert($0) } }
      return problems
    }

    @Test("A real store comes back with every value, key, version and order", .needsSharedData, arguments: SharedData.stores)
    func roundTrip(path: URL) throws {
      try withCopy(ofStore: path) { url in
        let file = StoreLocation(url)
        // Some stores of the collection are damaged on purpose, have no model, or one that no new store can have.
        guard let before = try? storedContents(at: file),
          (try? file.engine.identifyStore(at: file, registry: nil).model.checkDerivations()) != nil
        else { return }
        let past = try history(at: file)
        let identifier = try file.engine.metadata(ofStoreAt: file).identifier
        try TestServer.withSchema { server in
          let server = try StoreLocation.postgreSQL(server)
          try StoreCopies.replaceStore(at: server, with: file)
          #expect(try server.engine.metadata(ofStoreAt: server).identifier == identifier)
          try #expect(storedContents(at: server) == before)
          try #expect(history(at: server) == past)
          try #expect(problems(of: server) == problems(of: file))
          let back = StoreLocation(url.deletingLastPathComponent().appendingPathComponent("Back.sqlite"))
          try StoreCopies.replaceStore(at: back, with: server)
          #expect(try back.engine.metadata(ofStoreAt: back).identifier == identifier)
          try #expect(storedContents(at: back) == before)
          try #expect(history(at: back) == past)
        }
      }
    }
  }
#endif
