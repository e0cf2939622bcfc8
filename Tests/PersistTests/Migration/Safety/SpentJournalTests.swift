import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("A journal with nothing to roll back", .aboutFiles("the journal"))
struct SpentJournalTests {
  /// The state left by a writer killed before it wrote a page, or after its commit.
  private static let leftovers = [Data(), Data(count: 512)]

  private func withStore(keeping journal: Data, _ body: (URL) throws -> Void) throws {
    try withTemporaryStore { url in
      try MigrationScenario(.inPlace).makeStore(at: url, marks: 3)
      try MadeStore.run("PRAGMA journal_mode = DELETE", at: url)
      try journal.write(to: SQLiteFileName.companion(of: url, "-journal"))
      try body(url)
    }
  }

  private func hasJournal(_ url: URL) -> Bool { FileState(SQLiteFileName.companion(of: url, "-journal")) != nil }

  @Test("It is deleted by the next program that may write, which changes nothing else", arguments: leftovers)
  func goes(journal: Data) throws {
    try withStore(keeping: journal) { url in
      let before = try Data(contentsOf: url)
      try UnfinishedWork.cleanUp(storeAt: url)
      #expect(!hasJournal(url))
      try #expect(Data(contentsOf: url) == before)
    }
  }

  @Test("It remains while another program writes, and none waits", arguments: leftovers)
  func stays(journal: Data) throws {
    try withStore(keeping: journal) { url in
      let writer = try SQLiteConnection(url, mode: .readWrite)
      defer { writer.close() }
      try writer.execute(.beginWriting)
      try writer.execute(.createMarker)
      let begin = ContinuousClock.now
      try UnfinishedWork.cleanUp(storeAt: url, options: StoreOptions(busyTimeout: .seconds(600)))
      #expect(ContinuousClock.now - begin < .seconds(300))
      #expect(hasJournal(url))
      try writer.execute(.commit)
      #expect(!hasJournal(url))
    }
  }

  @Test("It remains beside a store with a log, whose transactions don't use it")
  func log() throws {
    try withStore(keeping: Data()) { url in
      try MadeStore.run("PRAGMA journal_mode = WAL", at: url)
      try Data().write(to: SQLiteFileName.companion(of: url, "-journal"))
      try UnfinishedWork.cleanUp(storeAt: url)
      #expect(hasJournal(url))
    }
  }
}
