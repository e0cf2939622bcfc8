import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The behavior that coordinators and contexts rely on, for every engine.
@Suite("Contract of store engines: rows")
struct StoreEngineContract {
  private let fixture: StoreFixture

  init() throws { fixture = try StoreFixture() }

  private func query(_ name: String, _ change: (inout RowQuery) -> Void = { _ in }) throws -> RowQuery {
    var query = try RowQuery(entity: fixture.entity(name))
    change(&query)
    return query
  }

  private func tags(_ labels: String...) throws -> [RowWrites.Insert] {
    try labels.map { try fixture.insert("Tag", ["label": .string($0)]) }
  }

  private func labels(_ store: any PersistentStore, _ query: RowQuery) throws -> [String] {
    try store.rows(query).map { row in
      guard case .string(let label)? = try row.values(fixture.model)["label"] else { return "" }
      return label
    }
  }

  @Test("A new store has the model, its metadata and no rows", arguments: EngineUnderTest.available)
  func new(engine: EngineUnderTest) throws {
    try engine.withStore(of: fixture.model) { store in
      #expect(store.model === fixture.model)
      #expect(!store.isReadOnly)
      let metadata = try store.metadata()
      #expect(metadata.identifier == store.identifier)
      #expect(metadata.versionHashes == fixture.model.fingerprints.mapValues(\.bytes))
      for entity in fixture.model.entities { try #expect(store.count(RowQuery(entity: entity)) == 0) }
    }
  }

  @Test("Inserted rows get keys of their own and version 1, updates increment it", arguments: EngineUnderTest.available)
  func versions(engine: EngineUnderTest) throws {
    try engine.withStore(of: fixture.model) { store in
      let ids = try store.insertedIDs(RowWrites(inserts: tags("a", "b", "c")))
      #expect(Set(ids).count == 3)
      #expect(ids.allSatisfy { $0.storeIdentifier == store.identifier && $0.entityName == "Tag" })
      _ = try store.commit(RowWrites(updates: [fixture.update(ids[1], ["label": .string("B")])]))
      let keys = ids.compactMap(\.primaryKey)
      let versions = try store.versions(of: keys + [999_999], in: fixture.entity("Tag"))
      #expect(versions == [keys[0]: 1, keys[1]: 2, keys[2]: 1])
      let order = FetchSortDescriptor("label")
      try #expect(labels(store, query("Tag") { $0.sort = [order] }) == ["B", "a", "c"])
    }
  }

  @Test("A commit with an outdated version changes nothing and names the rows", arguments: EngineUnderTest.available)
  func conflicts(engine: EngineUnderTest) throws {
    try engine.withStore(of: fixture.model) { store in
      let ids = try store.insertedIDs(RowWrites(inserts: tags("a", "b")))
      _ = try store.commit(RowWrites(updates: [fixture.update(ids[0], ["label": .string("A")])]))
      let outdated = [
        try RowWrites(updates: [fixture.update(ids[1], ["label": .string("x")]), fixture.update(ids[0], ["label": .string("y")])]),
        try RowWrites(inserts: tags("new"), deletes: [fixture.delete(ids[0])]),
      ]
      for writes in outdated {
        let error = #expect(throws: RowConflicts.self) { _ = try store.commit(writes) }
        #expect(error?.conflicts.map(\.id) == [ids[0]])
        #expect(error?.conflicts.first?.storedVersion == 2)
        try #expect(Set(labels(store, query("Tag"))) == ["A", "b"])
      }
    }
  }

  @Test("A commit that breaks a uniqueness constraint changes nothing", arguments: EngineUnderTest.available)
  func constraints(engine: EngineUnderTest) throws {
    try engine.withStore(of: fixture.model) { store in
      _ = try store.commit(RowWrites(inserts: tags("a")))
      let error = #expect(throws: PersistenceError.self) { _ = try store.commit(RowWrites(inserts: tags("b", "a"))) }
      #expect(error?.code == .constraintConflict)
      try #expect(labels(store, query("Tag")) == ["a"])
    }
  }

  @Test("Keys, order, limit and offset select rows, and subentities belong to a hierarchy", arguments: EngineUnderTest.available)
  func selection(engine: EngineUnderTest) throws {
    try engine.withStore(of: fixture.model) { store in
      let ids = try store.insertedIDs(RowWrites(inserts: tags("d", "a", "c", "b")))
      let order = FetchSortDescriptor("label", isAscending: false)
      var window = try query("Tag") { $0.sort = [order] }
      window.limit = 2
      window.offset = 1
      try #expect(labels(store, window) == ["c", "b"])
      let keys = [ids[0], ids[3]].compactMap(\.primaryKey)
      try #expect(Set(store.rows(query("Tag") { $0.keys = keys }).map(\.key)) == Set(keys))
      let only = try store.rows(query("Tag") { $0.keysOnly = true })
      #expect(only.count == 4)
      #expect(only.allSatisfy { $0.snapshot == nil })
      _ = try store.commit(RowWrites(inserts: [fixture.insert("Child"), fixture.insert("Adult")]))
      try #expect(store.count(query("Person")) == 2)
      try #expect(store.count(query("Person") { $0.includesSubentities = false }) == 0)
      try #expect(store.greatestKey(inHierarchyOf: fixture.entity("Person")) >= 2)
    }
  }

  @Test("A divided predicate agrees with its evaluation", arguments: EngineUnderTest.available)
  func predicates(engine: EngineUnderTest) throws {
    try engine.withStore(of: fixture.model) { store in
      _ = try store.commit(RowWrites(inserts: tags("apple", "Äpfel", "banana")))
      let predicate = try FetchPredicate("label BEGINSWITH[cd] 'AP' OR label == 'banana'")
      let division = try store.divide(predicate, over: fixture.entity("Tag"))
      let found = try store.rows(query("Tag") { $0.predicate = division.stored })
      // The engine may leave any part to evaluation, but must not exclude a row.
      #expect(found.count >= 3)
      if division.rest == nil { #expect(found.count == 3) }
    }
  }

  @Test("Members of to-many relationships keep their order and have both sides", arguments: EngineUnderTest.available)
  func members(engine: EngineUnderTest) throws {
    try engine.withStore(of: fixture.model) { store in
      let house = ManagedObjectID(temporaryFor: "House")
      let (ada, bob) = (ManagedObjectID(temporaryFor: "Child"), ManagedObjectID(temporaryFor: "Adult"))
      let ids = try store.insertedIDs(
        RowWrites(
          inserts: [
            fixture.insert("House", [:], id: house), fixture.insert("Child", ["home": .objectID(house)], id: ada),
            fixture.insert("Adult", ["home": .objectID(house)], id: bob),
          ],
          links: [fixture.link(ada, "friends", add: [bob])],
          orderings: [fixture.order(house, "residents", [bob, ada])])
      )
      try #expect(fixture.related(store, ids[0], "residents") == [ids[2], ids[1]])
      try #expect(fixture.related(store, ids[1], "friends") == [ids[2]])
      try #expect(fixture.related(store, ids[2], "friends") == [ids[1]])
      let entity = try fixture.entity("House")
      let residents = try #require(entity.property(named: "residents"))
      let key = try #require(ids[0].primaryKey)
      let window = try store.related(by: residents, of: entity, owners: key...key, limit: 10)
      #expect(window.byOwner == [key: [ids[2], ids[1]]])
      #expect(window.end == key)
      try #expect(store.related(by: residents, of: entity, owners: key...key, limit: 1).end == nil)
      let rows = try store.relatedRows(by: residents, of: entity, owners: [key])
      #expect(rows.batch.map(\.key) == [ids[2], ids[1]].compactMap(\.primaryKey))
      #expect(rows.owners == [key, key])
      _ = try store.commit(RowWrites(links: [fixture.link(ids[1], "friends", remove: [ids[2]])]))
      try #expect(fixture.related(store, ids[2], "friends") == [])
    }
  }

  @Test("A reserved key is assigned to nothing else", arguments: EngineUnderTest.available)
  func reservedKeys(engine: EngineUnderTest) throws {
    try engine.withStore(of: fixture.model) { store in
      let tag = try fixture.entity("Tag")
      let reserved = try store.reserveKeys(for: [tag, tag])
      let given = try store.insertedIDs(RowWrites(inserts: tags("a", "b"))).compactMap(\.primaryKey)
      #expect(Set(reserved + given).count == 4)
    }
  }

  @Test("A large value is read back complete, from the row or from its file", arguments: EngineUnderTest.available)
  func largeValues(engine: EngineUnderTest) throws {
    try engine.withStore(of: fixture.model) { store in
      let data = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
      let id = try store.insertedIDs(RowWrites(inserts: [fixture.insert("Everything", ["large": .data(data)])]))[0]
      let entity = try fixture.entity("Everything")
      let slot = try #require(entity.property(named: "large")?.slot)
      let key = try #require(id.primaryKey)
      try #expect(store.newestLargeValue(at: slot, of: entity, key: key) == .data(data))
      _ = try store.commit(RowWrites(deletes: [fixture.delete(id)]))
      try #expect(store.newestLargeValue(at: slot, of: entity, key: key) == nil)
    }
  }

  @Test("Batches change rows in one transaction and count them", arguments: EngineUnderTest.available)
  func batches(engine: EngineUnderTest) throws {
    try engine.withStore(of: fixture.model) { store in
      _ = try store.commit(RowWrites(inserts: tags("a", "b", "c")))
      let tag = try fixture.entity("Tag")
      let division = try store.divide(FetchPredicate("label > 'a'"), over: tag)
      try #require(division.rest == nil)
      let deleted = try store.delete(
        BatchDelete(rows: query("Tag") { $0.predicate = division.stored }, wantsIdentifiers: false))
      #expect(deleted.count == 2)
      try #expect(labels(store, query("Tag")) == ["a"])
      let label = try #require(tag.property(named: "label")?.slot)
      let updated = try store.update(
        BatchUpdate(rows: query("Tag"), changes: [(slot: label, value: .constant("z"))], wantsIdentifiers: false))
      #expect(updated.count == 1)
      try #expect(labels(store, query("Tag")) == ["z"])
    }
  }

  @Test("Application metadata are written with the next commit, or separately", arguments: EngineUnderTest.available)
  func metadata(engine: EngineUnderTest) throws {
    try engine.withStore(of: fixture.model) { store in
      let saves: [() throws -> Void] = [
        { _ = try store.commit(RowWrites(inserts: tags("a"))) }, { try store.savePendingMetadata() },
      ]
      for (count, save) in saves.enumerated() {
        var metadata = try store.metadata()
        metadata.values["count"] = .integer(Int64(count))
        try store.setMetadata(metadata)
        try #expect(store.metadata().values["count"] == .integer(Int64(count)))
        try save()
        try #expect(store.metadata().values["count"] == .integer(Int64(count)))
      }
    }
  }

  @Test("A closed store neither reads nor writes, and its error says what to do", arguments: EngineUnderTest.available)
  func closed(engine: EngineUnderTest) throws {
    try engine.withLocation { location in
      let store = try location.engine.createStore(at: location, model: fixture.model, options: StoreOptions())
      try store.close()
      let uses: [() throws -> Void] = [
        { _ = try store.count(query("Tag")) }, { _ = try store.commit(RowWrites(inserts: tags("a"))) },
      ]
      for use in uses {
        let error = #expect(throws: PersistenceError.self) { try use() }
        #expect(error?.code == .storeOpenFailed && error?.fix == "Add it to a coordinator again.")
      }
    }
  }

  @Test("Texts are searched word by word", arguments: EngineUnderTest.available)
  func texts(engine: EngineUnderTest) throws {
    try engine.withLocation { location in
      let searcher = try location.engine.textSearcher(.words)
      try #expect(searcher.matches("Green tea, please", FullTextQuery("tea")))
      try #expect(!searcher.matches("Green tea, please", FullTextQuery("coffee")))
      try #expect(searcher.excerpt("Green tea", FullTextQuery("tea"), wordCount: nil)?.marked("<", ">") == "Green <tea>")
    }
  }
}
