import Foundation
import PersistTestSupport
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The law of copies of files with work outstanding: they have all values as converted, and need nothing of the
/// original's outstanding work, unless they are files themselves.
@Suite("Copies of files whose values are converted later", .aboutFiles("outstanding conversions"))
struct LaterConversionCopyTests {
  /// The part of the outstanding work that is done before the copy.
  enum Moment: CaseIterable {
    case none, some, most
  }

  private func withUnconverted(
    _ moment: Moment, _ body: (_ url: URL, _ models: LaterConversionModels, _ expected: StoreDump) throws -> Void
  ) throws {
    let models = try LaterConversionModels()
    try withTemporaryFolder { folder in
      let (url, twin) = (folder.appendingPathComponent("Store.sqlite"), folder.appendingPathComponent("Twin.sqlite"))
      try models.fill(url, items: 900)
      try StoreBackup.copy(storeAt: url, to: twin)
      try AutomaticMigrator().migrate(storeAt: twin, to: models.new, registry: models.registry)
      try LaterConversionModels.deferring.migrate(storeAt: url, to: models.new, registry: models.registry)
      let coordinator = try models.open(url)
      let parts =
        switch moment {
        case .none: 0
        case .some: 2
        case .most: 4
        }
      for _ in 0..<parts { _ = try coordinator.finishDeferredMigration(within: .zero) }
      try LaterConversionModels.close(coordinator)
      try body(url, models, StoreDump(of: models.new.model, at: twin))
    }
  }

  @Test("A backup and a copy in a file show the converted values, and can be finished", arguments: Moment.allCases)
  func files(moment: Moment) throws {
    try withUnconverted(moment) { url, models, expected in
      let folder = url.deletingLastPathComponent()
      let backup = folder.appendingPathComponent("Backup.sqlite")
      let copy = folder.appendingPathComponent("Copy.sqlite")
      let coordinator = try models.open(url)
      try coordinator.backUp(#require(coordinator.persistentStores.first), to: backup)
      try LaterConversionModels.close(coordinator)
      _ = try VerifiedCopy(of: url, to: copy).run()
      for file in [backup, copy] {
        try #expect(StoreDump(of: models.new.model, at: file).differences(from: expected) == [])
        let coordinator = try models.open(file)
        try #expect(coordinator.finishDeferredMigration())
        try LaterConversionModels.close(coordinator)
        try #expect(StoreDump(of: models.new.model, at: file).differences(from: expected) == [])
        try MadeStore.expectNewStore(of: models.new.model, at: file)
      }
    }
  }

  #if canImport(PersistPostgreSQL)
    @Test(
      "A copy on a server and back has the converted values and nothing left to do", .needsServer,
      arguments: Moment.allCases)
    func server(moment: Moment) throws {
      try withUnconverted(moment) { url, models, expected in
        try TestServer.withSchema { text in
          let server = try #require(URL(string: text))
          let back = url.deletingLastPathComponent().appendingPathComponent("Back.sqlite")
          _ = try VerifiedCopy(of: url, to: server).run()
          try #expect(PersistentStoreCoordinator.metadata(at: server).deferredSteps == [])
          let coordinator = try models.open(server)
          try #expect(coordinator.finishDeferredMigration())
          try LaterConversionModels.close(coordinator)
          _ = try VerifiedCopy(of: server, to: back).run()
          try #expect(StoreDump(of: models.new.model, at: back).differences(from: expected) == [])
          var problems: [StoreProblem] = []
          try checkStore(at: server, registry: models.registry) { problems.append($0) }
          #expect(problems == [])
        }
      }
    }
  #endif
}
