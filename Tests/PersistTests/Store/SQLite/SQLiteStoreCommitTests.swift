import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Stores: saving")
struct SQLiteStoreCommitTests {
  let fixture: StoreFixture

  init() throws { fixture = try StoreFixture() }

  @Test("A thousand inserts prepare one statement and update the key counter once", .aboutFiles("SQLite's statements"))
  func statementCount() throws {
    try fixture.withFile { store in
      let inserts = try (1...1000).map { try fixture.insert("Tag", ["label": .string("\($0)")]) }
      let before = store.pool.counts
      _ = try store.commit(RowWrites(inserts: inserts))
      let after = store.pool.counts
      // BEGIN, COMMIT, reading and writing the counter, and the insert.
      #expect(after.prepared - before.prepared <= 5)
      #expect(after.executed - before.executed == 1000 + 4)
      let updates = try (1...1000).map {
        try fixture.update(
          ManagedObjectID(entityName: "Tag", storeIdentifier: store.identifier, key: .permanent($0)),
          ["label": .string("u\($0)")])
      }
      let second = store.pool.counts
      _ = try store.commit(RowWrites(updates: updates))
      #expect(store.pool.counts.prepared - second.prepared == 1)
      #expect(store.pool.counts.executed - second.executed == 1000 + 2)
    }
  }

  @Test(
    "Key counters belong to the root of a hierarchy and never assign a key twice",
    .aboutFiles("the counters of keys in a file"))
  func keyCounters() throws {
    try fixture.withFile { store in
      let first = try store.insertedIDs(
        RowWrites(inserts: [fixture.insert("Child"), fixture.insert("Adult"), fixture.insert("House")]))
      #expect(first.map(\.primaryKey) == [1, 2, 1])
      _ = try store.commit(RowWrites(deletes: [fixture.delete(first[1])]))
      let again = try fixture.reopened(store)
      try #expect(again.insertedIDs(RowWrites(inserts: [fixture.insert("Child")]))[0].primaryKey == 3)
      let counters = try again.pool.read {
        try $0.all("SELECT Z_NAME, Z_MAX, Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT") {
          "\($0.text(0)) \($0.integer(1)) \($0.integer(2))"
        }
      }
      #expect(counters == ["Everything 0 0", "House 1 0", "Person 3 0", "Adult 0 3", "Child 0 3", "Tag 0 0"])
      try again.close()
    }
  }

  @Test("Objects inserted together may refer to each other")
  func references() throws {
    try fixture.withStore { store in
      let house = ManagedObjectID(temporaryFor: "House")
      let ada = ManagedObjectID(temporaryFor: "Child")
      let bob = ManagedObjectID(temporaryFor: "Adult")
      let ids = try store.insertedIDs(
        RowWrites(
          inserts: [
            fixture.insert("Child", ["home": .objectID(house), "carer": .objectID(bob)], id: ada),
            fixture.insert("Adult", ["home": .objectID(house)], id: bob), fixture.insert("House", [:], id: house),
          ],
          links: [fixture.link(ada, "friends", add: [bob])],
          orderings: [fixture.order(house, "residents", [bob, ada])])
      )
      let again = try fixture.reopened(store)
      try #expect(fixture.related(again, ids[2], "residents") == [ids[1], ids[0]])
      try #expect(fixture.related(again, ids[0], "friends") == [ids[1]])
      try #expect(fixture.related(again, ids[1], "friends") == [ids[0]])
      let child = try again.rows(RowQuery(entity: fixture.entity("Child")))[0]
      try #expect(child.values(fixture.model) == ["home": .integer(1), "carer": .integer(2), "carer.entity": .string("Adult")])
      try again.close()
    }
  }

  @Test("A reference to an unsaved object, or to one of another store, is refused")
  func badReferences() throws {
    try fixture.withStore { store in
      for (id, code) in [
        (ManagedObjectID(temporaryFor: "House"), PersistenceError.Code.objectNotFound),
        (ManagedObjectID(entityName: "House", storeIdentifier: "other", key: .permanent(1)), .foreignObject),
      ] {
        let error = #expect(throws: PersistenceError.self) {
          try store.commit(RowWrites(inserts: [fixture.insert("Child", ["home": .objectID(id)])]))
        }
        #expect(error?.code == code)
      }
      try #expect(store.count(RowQuery(entity: fixture.entity("Person"))) == 0)
    }
  }

  @Test("Many rows of the same version are deleted in groups", .aboutFiles("SQLite's statements"))
  func groupedDeletes() throws {
    try fixture.withFile { store in
      let inserts = try (1...1000).map { try fixture.insert("Tag", ["label": .string("\($0)")]) }
      let ids = try store.insertedIDs(RowWrites(inserts: inserts))
      let before = store.pool.counts
      _ = try store.commit(RowWrites(deletes: ids.map { try fixture.delete($0) }))
      // BEGIN, COMMIT, 31 groups, and the remaining 8, of rows and of their pairs in the join table.
      #expect(store.pool.counts.executed - before.executed == 2 + 2 * (31 + 8))
      try #expect(store.count(RowQuery(entity: fixture.entity("Tag"))) == 0)
    }
  }

  @Test("A conflict among many deletions names exactly the rows that others changed, and nothing is deleted")
  func groupedDeleteConflicts() throws {
    try fixture.withStore { store in
      let inserts = try (1...100).map { try fixture.insert("Tag", ["label": .string("\($0)")]) }
      let ids = try store.insertedIDs(RowWrites(inserts: inserts))
      _ = try store.commit(
        RowWrites(
          updates: [fixture.update(ids[40], ["label": .string("changed")])], deletes: [fixture.delete(ids[70])]))
      let error = #expect(throws: RowConflicts.self) {
        _ = try store.commit(RowWrites(deletes: ids.map { try fixture.delete($0) }))
      }
      #expect(error?.conflicts.map(\.id) == [ids[40], ids[70]])
      #expect(error?.conflicts.map(\.storedVersion) == [2, nil])
      try #expect(store.count(RowQuery(entity: fixture.entity("Tag"))) == 99)
      let rest = ids.enumerated().filter { $0.offset != 40 && $0.offset != 70 }.map(\.element)
      _ = try store.commit(RowWrites(deletes: rest.map { try fixture.delete($0) }))
      try #expect(store.count(RowQuery(entity: fixture.entity("Tag"))) == 1)
    }
  }

  @Test("An update increments the version; an outdated one is a conflict and changes nothing")
  func conflicts() throws {
    try fixture.withStore { store in
      let ids = try store.insertedIDs(
        RowWrites(inserts: [
          fixture.insert("Tag", ["label": .string("a")]), fixture.insert("Tag", ["label": .string("b")]),
          fixture.insert("Tag", ["label": .string("c")]),
        ]))
      _ = try store.commit(RowWrites(updates: [fixture.update(ids[0], ["label": .string("a2")])]))
      _ = try store.commit(RowWrites(updates: [fixture.update(ids[0], version: 2, [:])]))
      _ = try store.commit(RowWrites(deletes: [fixture.delete(ids[1])]))
      let error = #expect(throws: RowConflicts.self) {
        try store.commit(
          RowWrites(
            inserts: [fixture.insert("Tag", ["label": .string("new")])],
            updates: [
              fixture.update(ids[0], version: 2, ["label": .string("late")]), fixture.update(ids[1], ["label": .string("gone")]),
            ],
            deletes: [fixture.delete(ids[2], version: 5)]))
      }
      #expect(error?.conflicts.map(\.id) == ids)
      #expect(error?.conflicts.map(\.expectedVersion) == [2, 1, 5])
      #expect(error?.conflicts.map(\.storedVersion) == [3, nil, 1])
      let rows = try store.rows(RowQuery(entity: fixture.entity("Tag")))
      try #expect(rows.map { try $0.values(fixture.model)["label"] } == [.string("a2"), .string("c")])
      #expect(rows.map { $0.snapshot?.version } == [3, 1])
    }
  }

  @Test("A violated uniqueness constraint names entity, properties and values")
  func uniqueness() throws {
    try fixture.withStore { store in
      let values: [String: StoredValue] = ["street": .string("Main"), "number": .integer(7)]
      let ids = try store.insertedIDs(RowWrites(inserts: [fixture.insert("House", values), fixture.insert("House")]))
      for writes in [
        RowWrites(inserts: [try fixture.insert("House", values)]),
        RowWrites(updates: [try fixture.update(ids[1], ["street": .string("Main"), "number": .integer(7)])]),
      ] {
        let error = #expect(throws: PersistenceError.self) { try store.commit(writes) }
        #expect(error?.code == .constraintConflict)
        #expect(error?.place.entity == "House")
        #expect(error?.place.property == "street, number")
        #expect(error?.message.contains("'Main', 7") == true)
      }
    }
  }

  @Test("Unique values may be transferred in one save: exchanged, or from a deleted to a new row")
  func uniqueExchange() throws {
    try fixture.withStore { store in
      let ids = try store.insertedIDs(
        RowWrites(inserts: [
          fixture.insert("Tag", ["label": .string("a")]), fixture.insert("Tag", ["label": .string("b")]),
          fixture.insert("Tag", ["label": .string("c")]),
        ]))
      _ = try store.commit(
        RowWrites(
          inserts: [fixture.insert("Tag", ["label": .string("c")])],
          updates: [fixture.update(ids[0], ["label": .string("b")]), fixture.update(ids[1], ["label": .string("a")])],
          deletes: [fixture.delete(ids[2])]))
      let rows = try store.rows(RowQuery(entity: fixture.entity("Tag")))
      try #expect(rows.map { try $0.values(fixture.model)["label"] } == [.string("b"), .string("a"), .string("c")])
    }
  }

  @Test("Many-to-many members are added and removed, in order if there is one")
  func manyToMany() throws {
    try fixture.withStore { store in
      let ids = try store.insertedIDs(
        RowWrites(
          inserts: [fixture.insert("House")]
            + (1...4).map { try fixture.insert("Tag", ["label": .string("\($0)")]) }))
      let (house, tags) = (ids[0], Array(ids[1...]))
      _ = try store.commit(RowWrites(links: [fixture.link(house, "tags", add: tags + tags)]))
      try #expect(fixture.related(store, house, "tags") == tags)
      try #expect(fixture.related(store, tags[2], "houses") == [house])
      _ = try store.commit(
        RowWrites(
          links: [fixture.link(house, "tags", remove: [tags[1]])],
          orderings: [fixture.order(house, "tags", [tags[3], tags[0], tags[2]])]))
      let again = try fixture.reopened(store)
      try #expect(fixture.related(again, house, "tags") == [tags[3], tags[0], tags[2]])
      try #expect(fixture.related(again, tags[1], "houses").isEmpty)
      _ = try again.commit(RowWrites(deletes: [fixture.delete(tags[0])]))
      try #expect(fixture.related(again, house, "tags") == [tags[3], tags[2]])
      _ = try again.commit(RowWrites(deletes: [fixture.delete(house)]))
      try #expect(fixture.related(again, tags[3], "houses").isEmpty)
      let raw = try RawStore(#require(again.url), mode: .readOnly)
      defer { raw.close() }
      for table in try raw.catalog().tableMap(of: fixture.model).joinTables {
        try #expect(raw.rows("SELECT COUNT(*) FROM \(name: table.name)")[0].integer(0) == 0)
      }
      try again.close()
    }
  }

  @Test("A to-many relationship without an inverse is stored in its members' rows")
  func oneWay() throws {
    try fixture.withStore { store in
      let ids = try store.insertedIDs(
        RowWrites(
          inserts: [fixture.insert("House")]
            + (1...3).map { try fixture.insert("Tag", ["label": .string("\($0)")]) }))
      _ = try store.commit(RowWrites(links: [fixture.link(ids[0], "marks", add: [ids[1], ids[3]])]))
      try #expect(fixture.related(store, ids[0], "marks") == [ids[1], ids[3]])
      _ = try store.commit(RowWrites(links: [fixture.link(ids[0], "marks", add: [ids[2]], remove: [ids[1]])]))
      try #expect(fixture.related(store, ids[0], "marks") == [ids[2], ids[3]])
      _ = try store.commit(RowWrites(deletes: [fixture.delete(ids[0])]))
      try #expect(fixture.related(store, ids[0], "marks").isEmpty)
      try #expect(store.count(RowQuery(entity: fixture.entity("Tag"))) == 3)
    }
  }

  @Test("A new order of some members leaves the others where they are, and assigns no position twice")
  func orderOfSome() throws {
    try fixture.withStore { store in
      let new = ManagedObjectID(temporaryFor: "House")
      let ids = try store.insertedIDs(
        RowWrites(
          inserts: [fixture.insert("House", [:], id: new)] + (1...4).map { _ in try fixture.insert("Tag") }
            + (1...4).map { _ in try fixture.insert("Child", ["home": .objectID(new)]) }))
      let house = ids[0]
      _ = try store.commit(RowWrites(links: [fixture.link(house, "tags", add: Array(ids[1...4]))]))
      for (name, members) in [("tags", ids[1...4]), ("residents", ids[5...8])] {
        let (last, known) = (members[members.startIndex], Array(members.dropFirst()))
        _ = try store.commit(RowWrites(orderings: [fixture.order(house, name, known + [last])]))
        // Moved behind the second one, as by a context that read the members before the last one was added.
        let order = [known[1], known[2], known[0]]
        _ = try store.commit(RowWrites(orderings: [fixture.order(house, name, order)]))
        try #expect(fixture.related(store, house, name) == order + [last])
      }
    }
  }

  @Test("Members of an ordered relationship without a given order come last; moving one writes one position")
  func orders() throws {
    try fixture.withStore { store in
      let house = try store.insertedIDs(RowWrites(inserts: [fixture.insert("House")]))[0]
      func places() throws -> [Int64] {
        let raw = try RawStore(#require(store.url), mode: .readOnly)
        defer { raw.close() }
        return try raw.rows("SELECT Z_FOK_HOME FROM ZPERSON WHERE ZHOME IS NOT NULL ORDER BY Z_PK").map { $0.integer(0) }
      }
      let people = try store.insertedIDs(
        RowWrites(inserts: (1...4).map { _ in try fixture.insert("Child", ["home": .objectID(house)]) }))
      try #expect(fixture.related(store, house, "residents") == people)
      try #expect(places() == [2048, 3072, 4096, 5120])
      let moved = [people[3], people[0], people[1], people[2]]
      _ = try store.commit(RowWrites(orderings: [fixture.order(house, "residents", moved)]))
      try #expect(fixture.related(store, house, "residents") == moved)
      try #expect(places() == [2048, 3072, 4096, 1024])
      _ = try store.commit(RowWrites(updates: [fixture.update(people[0], ["home": .null])]))
      try #expect(fixture.related(store, house, "residents") == [people[3], people[1], people[2]])
      _ = try store.commit(RowWrites(updates: [fixture.update(people[0], version: 2, ["home": .objectID(house)])]))
      try #expect(fixture.related(store, house, "residents") == [people[3], people[1], people[2], people[0]])
    }
  }

  @Test("Positions: any new order is reached, with the fewest writes while there is room")
  func orderPlaces() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<500 {
      let members = (1...Int64.random(in: 1...12)).map { $0 }
      var places: [Int64: Int64] = [:]
      for member in members where Bool.random() { places[member] = .random(in: Bool.random() ? 0...20 : 0...100_000) }
      let order = members.shuffled(using: &random)
      let changes = OrderPlaces.changes(order, from: places)
      for (member, place) in changes { places[member] = place }
      #expect(order.map { places[$0] ?? -1 } == order.map { places[$0] ?? -1 }.sorted())
      #expect(Set(places.values).count == places.count && !places.values.contains { $0 <= 0 })
      #expect(OrderPlaces.changes(order, from: places).isEmpty)
    }
    #expect(OrderPlaces.changes([3, 1, 2], from: [1: 2048, 2: 3072, 3: 4096]).map(\.member) == [3])
    let places: [Int64: Int64?] = [1: 2048, 2: 3072, 3: 4096, 4: 5120, 5: nil]
    #expect(OrderPlaces.order([2, 3, 1], isWhole: true, among: places) == [2, 3, 1, 4])
    #expect(OrderPlaces.order([4, 9, 2, 5], isWhole: true, among: places) == [1, 4, 3, 2, 5])
    #expect(OrderPlaces.order([2, 9, 5], isWhole: false, among: places) == [1, 3, 4, 2, 5])
    #expect(OrderPlaces.changes([1, 2], from: [1: .max, 2: 5]).map(\.member) == [1])
    #expect(OrderPlaces.changes([1, 2], from: [1: .max]).map(\.place) == [2048, 3072])
  }

  @Test(
    "Files of large values are written before the commit that needs them, and deleted after the one that doesn't",
    .aboutFilesOfLargeValues)
  func externalFiles() throws {
    try fixture.withFile { store in
      let folder = try #require(store.externalFolder)
      let large = Data(repeating: 1, count: 200_000)
      let id = try store.insertedIDs(RowWrites(inserts: [fixture.insert("Everything", ["large": .data(large)])]))[0]
      let first = folder.names()
      #expect(first.count == 1 && first[0].count == 36)
      #expect(throws: RowConflicts.self) {
        try store.commit(
          RowWrites(
            inserts: [fixture.insert("Everything", ["large": .data(large)])], deletes: [fixture.delete(id, version: 9)]))
      }
      #expect(folder.names() == first)
      _ = try store.commit(RowWrites(updates: [fixture.update(id, ["int16": .integer(1)])]))
      #expect(folder.names() == first)
      _ = try store.commit(RowWrites(updates: [fixture.update(id, version: 2, ["large": .data(large + [2])])]))
      #expect(folder.names().count == 1 && folder.names() != first)
      try #expect(store.externalData(named: folder.names()[0]).count == 200_001)
      _ = try store.commit(RowWrites(deletes: [fixture.delete(id, version: 3)]))
      #expect(folder.names() == [])
    }
  }

  @Test("Writing to a read-only store is refused")
  func readOnly() throws {
    try fixture.withStore { store in
      let reader = try fixture.reopened(store, readOnly: true)
      let error = #expect(throws: PersistenceError.self) {
        try reader.commit(RowWrites(inserts: [fixture.insert("Tag")]))
      }
      #expect(error?.code == .storeReadOnly)
      try reader.close()
    }
  }
}
