import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("The reader of a walk's groups")
struct GroupReaderTests {
  /// The queries of consecutive groups of five people, and the store that counts the reads.
  private func withGroups(
    unchanging: Bool = true, _ body: (ManagedObjectContext, RecordingStore, [StoreQuery]) throws -> Void
  ) throws {
    try withNumberedPeople(20) { coordinator in
      let context = ManagedObjectContext(coordinator)
      context.readsUnchangingStores = unchanging
      let store = RecordingStore(try #require(coordinator.openStores.first), readsConcurrently: true)
      let tables = StoreTables(context: context, store: store)
      let person = try coordinator.managedObjectModel.entity(named: "Person")
      let groups = (0..<4).map { group in
        StoreQuery(
          tables: tables, query: RowQuery(entity: person, afterKey: Int64(5 * group), sort: [], limit: 5))
      }
      try body(context, store, groups)
    }
  }

  /// Waits until another thread has begun a read.
  private func wait(for calls: Int, of store: RecordingStore) {
    let end = ContinuousClock.now + .seconds(30)
    while store.calls < calls, .now < end { Thread.sleep(forTimeInterval: 0.001) }
  }

  private func expect(_ rows: RowBatch, _ group: Int, at place: SourceLocation = #_sourceLocation) {
    #expect(rows.map(\.key) == (1...5).map { Int64(5 * group + $0) }, sourceLocation: place)
  }

  @Test("The next group is read once, on another thread, if the program then asks for it")
  func used() throws {
    try withGroups { context, store, groups in
      var reader = GroupReader(context)
      expect(try reader.rows(groups[0]), 0)
      for next in 1..<4 {
        reader.readAhead(groups[next])
        wait(for: next + 1, of: store)
        expect(try reader.rows(groups[next]), next)
        #expect(store.calls == next + 1)
      }
    }
  }

  @Test("Rows that were read ahead for another group, or before something changed, are read again")
  func unused() throws {
    try withGroups { context, store, groups in
      var reader = GroupReader(context)
      reader.readAhead(groups[1])
      wait(for: 1, of: store)
      expect(try reader.rows(groups[2]), 2)
      #expect(store.calls == 2)
      expect(try reader.rows(groups[1]), 1)
      #expect(store.calls == 3)
      reader.readAhead(groups[3])
      wait(for: 4, of: store)
      context.graph.outdateRowsAhead()
      expect(try reader.rows(groups[3]), 3)
      #expect(store.calls == 5)
    }
  }

  @Test("Nothing is read ahead for a program that takes long, for large groups, and after the last one")
  func never() throws {
    try withGroups(unchanging: false) { context, store, groups in
      var reader = GroupReader(context)
      for (number, group) in groups.enumerated() {
        expect(try reader.rows(group), number)
        reader.readAhead(groups[(number + 1) % 4])
        Thread.sleep(forTimeInterval: 0.02)
        #expect(store.calls == number + 1)
      }
    }
    try withGroups { context, store, groups in
      var reader = GroupReader(context)
      var query = groups[0].query
      query.limit = 5001
      reader.readAhead(StoreQuery(tables: groups[0].tables, query: query))
      query.limit = nil
      reader.readAhead(StoreQuery(tables: groups[0].tables, query: query))
      reader.readAhead(nil)
      Thread.sleep(forTimeInterval: 0.02)
      #expect(store.calls == 0)
    }
  }
}
