import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Stores: rows")
struct SQLiteStoreTests {
  let fixture: StoreFixture

  init() throws { fixture = try StoreFixture() }

  private static let extremeValues: [[String: StoredValue]] = [
    [:],
    [
      "int16": .integer(.init(Int16.min)), "int64": .integer(.min), "flag": .boolean(false),
      "double": .double(.leastNonzeroMagnitude), "float": .double(Double(Float.greatestFiniteMagnitude)),
      "decimal": .decimal(0), "text": .string(""), "date": .date(Date(timeIntervalSinceReferenceDate: -1e12)),
      "bytes": .data(Data()), "large": .data(Data()), "uuid": .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))),
      "link": .uri(""), "archived": .data(Data([0])),
    ],
    [
      "int16": .integer(.init(Int16.max)), "int64": .integer(.max), "flag": .boolean(true), "double": .double(0.1 + 0.2),
      "float": .double(Double(Float(0.1))), "text": .string(TestEngine.current == .sqlite ? "a\0b ä 😀 'q' \"d\"" : "ä 😀 'q' \"d\""),
      "date": .date(Date(timeIntervalSinceReferenceDate: 569187350.058821)), "bytes": .data(Data(0...255)),
      "large": .data(Data(repeating: 9, count: 300_000)), "uuid": .uuid(UUID()), "link": .uri("not a url %zz"),
      "archived": .data(Data(repeating: 1, count: 100_000)),
    ],
  ]

  @Test("Every type keeps its extreme values", arguments: extremeValues)
  func extremes(values: [String: StoredValue]) throws {
    try fixture.withStore { store in
      let ids = try store.insertedIDs(RowWrites(inserts: [try fixture.insert("Everything", values)]))
      #expect(ids.map(\.key) == [.permanent(1)])
      let again = try fixture.reopened(store)
      let rows = try again.rows(RowQuery(entity: fixture.entity("Everything")))
      #expect(rows.count == 1)
      #expect(rows.first?.snapshot?.version == 1)
      var expected = values
      if case .data(let large)? = values["large"], large.count > TableMap.largestInlineValue, store is SQLiteStore,
        !TestKey.isUsed
      {
        expected["large"] = nil
        guard let snapshot = rows.first?.snapshot, let slot = try fixture.entity("Everything").property(named: "large")?.slot,
          case .file(let name) = snapshot.externalContent(slot)
        else {
          Issue.record("The large value should stand in a file.")
          return
        }
        try #expect(again.externalData(named: name) == large)
      }
      try #expect(rows.first?.values(fixture.model) == expected)
      try again.close()
    }
  }

  @Test("Decimals keep every digit", arguments: [
    "0", "-1", "10.11", "0.1", "123456789012345", "1234567890123456789", "-9223372036854775808",
    "99999999999999999999999999999999999999", "0.12345678901234567890123456789012345678",
    "-12345678901234567890.123456789", "1000000000000000000000000000000", "0.000000000000000000000000000001",
    "123456789012.345", "999999999999999", "9999999999999999.5", "33e120", "5e-120",
  ])
  func decimals(text: String) throws {
    let decimal = try #require(Decimal(string: text))
    try fixture.withStore { store in
      _ = try store.commit(RowWrites(inserts: [try fixture.insert("Everything", ["decimal": .decimal(decimal)])]))
      let row = try store.rows(RowQuery(entity: fixture.entity("Everything"))).first
      try #expect(row?.values(fixture.model) == ["decimal": .decimal(decimal)])
    }
  }

  @Test("A decimal that isn't a number is refused")
  func notANumber() throws {
    try fixture.withStore { store in
      let error = #expect(throws: PersistenceError.self) {
        try store.commit(RowWrites(inserts: [fixture.insert("Everything", ["decimal": .decimal(.nan)])]))
      }
      #expect(error?.code == .typeMismatch)
      #expect(error?.place.property == "decimal")
      #expect(throws: PersistenceError.self) {
        try store.commit(RowWrites(inserts: [fixture.insert("Everything", ["int16": .string("x")])]))
      }
      try #expect(store.count(RowQuery(entity: fixture.entity("Everything"))) == 0)
    }
  }

  @Test("Composite attributes are stored in the columns of their elements")
  func composite() throws {
    try fixture.withStore { store in
      let place: StoredValue = .composite(["x": .double(1.5), "inner": .composite(["note": .string("here")])])
      let id = try store.insertedIDs(RowWrites(inserts: [fixture.insert("Everything", ["place": place])]))[0]
      let everything = try fixture.entity("Everything")
      #expect(
        try store.rows(RowQuery(entity: everything))[0].values(fixture.model)
          == ["place.x": .double(1.5), "place.inner.note": .string("here")])
      _ = try store.commit(RowWrites(updates: [fixture.update(id, ["place": .composite(["x": .double(2)])])]))
      try #expect(store.rows(RowQuery(entity: everything))[0].values(fixture.model) == ["place.x": .double(2)])
      _ = try store.commit(RowWrites(updates: [fixture.update(id, version: 2, ["place": .null])]))
      try #expect(store.rows(RowQuery(entity: everything))[0].values(fixture.model) == [:])
    }
  }

  @Test("Subentities share a table; each row is read as one of its own entity")
  func inheritance() throws {
    try fixture.withStore { store in
      _ = try store.commit(
        RowWrites(inserts: [
          fixture.insert("Child", ["name": .string("Ada"), "age": .integer(7)]),
          fixture.insert("Adult", ["name": .string("Bob"), "age": .double(30.5)]),
          fixture.insert("Child", ["name": .string("Cid")]),
        ]))
      let again = try fixture.reopened(store)
      let people = try again.rows(RowQuery(entity: fixture.entity("Person")))
      #expect(people.map { fixture.model.entities[$0.entityIndex].name } == ["Child", "Adult", "Child"])
      #expect(people.map(\.key) == [1, 2, 3])
      try #expect(people[0].values(fixture.model) == ["name": .string("Ada"), "age": .integer(7)])
      try #expect(people[1].values(fixture.model) == ["name": .string("Bob"), "age": .double(30.5)])
      try #expect(again.count(RowQuery(entity: fixture.entity("Child"))) == 2)
      try #expect(again.count(RowQuery(entity: fixture.entity("Person"), includesSubentities: false)) == 0)
      try #expect(again.rows(RowQuery(entity: fixture.entity("Adult"), keysOnly: true)).map(\.key) == [2])
      try again.close()
    }
  }

  @Test("Rows are sorted, limited, paged and found by key")
  func queries() throws {
    try fixture.withStore { store in
      let tag = try fixture.entity("Tag")
      let labels = (1...1000).map { "t\($0 % 10)-\($0)" }
      _ = try store.commit(RowWrites(inserts: labels.map { try fixture.insert("Tag", ["label": .string($0)]) }))
      let sorted = try store.rows(RowQuery(entity: tag, sort: [.init("label", isAscending: false)], limit: 3, offset: 1))
      #expect(
        try sorted.map { try $0.values(fixture.model)["label"] }
          == labels.sorted(by: >)[1...3].map { .string($0) })
      try #expect(store.count(RowQuery(entity: tag, limit: 5, offset: 998)) == 2)
      try #expect(store.rows(RowQuery(entity: tag, limit: 0)).isEmpty)
      let keys: [Int64] = [1000, 5, 5, 7777, 1] + Array(20...400)
      let found = try store.rows(RowQuery(entity: tag, keys: keys)).map(\.key)
      #expect(found == [1, 5] + Array(20...400) + [1000])
      try #expect(store.rows(RowQuery(entity: tag, keys: keys, limit: 2, offset: 1)).map(\.key) == [5, 20])
      try #expect(store.rows(RowQuery(entity: tag, keys: [])).isEmpty)
      try #expect(store.count(RowQuery(entity: tag, keys: keys)) == 384)
      var walked: [Int64] = []
      var last: Int64 = 0
      while true {
        let batch = try store.rows(RowQuery(entity: tag, afterKey: last, limit: 300))
        guard let end = batch.last else { break }
        walked += batch.map(\.key)
        last = end.key
      }
      #expect(walked == Array(1...1000))
      for query in [
        RowQuery(entity: tag, sort: [.init("nothing")]), RowQuery(entity: tag, sort: [.init("houses")]),
        RowQuery(entity: tag, afterKey: 1, sort: [.init("label")]), RowQuery(entity: tag, limit: -1),
      ] {
        #expect(throws: PersistenceError.self) { try store.rows(query) }
      }
    }
  }

  @Test("Decimals are sorted by value, even beyond the digits that a number column can hold")
  func decimalOrder() throws {
    try fixture.withStore { store in
      let texts = ["3", "12345678901234567890.5", "-99999999999999999999.25", "0.5", "7"]
      _ = try store.commit(
        RowWrites(inserts: texts.map { try fixture.insert("Everything", ["decimal": .decimal(Decimal(string: $0) ?? 0)]) }))
      let rows = try store.rows(RowQuery(entity: fixture.entity("Everything"), sort: [.init("decimal")]))
      #expect(rows.map(\.key) == [3, 4, 1, 5, 2])
    }
  }

  private static let unknownRow: SQLText = "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZLABEL) VALUES (9, 99, 1, 'x')"

  @Test(
    "Rows of an entity that the store lists and the model lacks are ignored and kept",
    .aboutFiles("rows of other frameworks"))
  func unknownEntity() throws {
    try fixture.withFile { made in
      try made.pool.write { connection in
        try connection.execute(.addEntityNumber(99, name: "Label", parent: 0))
        try connection.execute(Self.unknownRow)
      }
      let store = try fixture.reopened(made)
      defer { try? store.close() }
      _ = try store.commit(RowWrites(inserts: [fixture.insert("Tag", ["label": .string("a")])]))
      let tag = try fixture.entity("Tag")
      try #expect(store.rows(RowQuery(entity: tag)).map(\.key) == [10])
      try #expect(store.rows(RowQuery(entity: tag, limit: 1)).map(\.key) == [10])
      try #expect(store.rows(RowQuery(entity: tag, keys: [9])).isEmpty)
      try #expect(store.count(RowQuery(entity: tag)) == 1)
      try #expect(store.delete(BatchDelete(rows: RowQuery(entity: tag), wantsIdentifiers: false)).count == 1)
      try #expect(store.pool.read { try $0.first("SELECT COUNT(*) FROM ZTAG") { $0.integer(0) } } == 1)
    }
  }

  @Test(
    "A row with an unlisted entity number is damage: fetches omit it and lose no other",
    .aboutFiles("damage of files"))
  func unlistedEntity() throws {
    try fixture.withFile { store in
      _ = try store.commit(RowWrites(inserts: [fixture.insert("Tag", ["label": .string("a")])]))
      try store.pool.write { try $0.execute(Self.unknownRow) }
      let id = try store.insertedIDs(RowWrites(inserts: [fixture.insert("Tag", ["label": .string("b")])]))[0]
      #expect(id.primaryKey == 10)
      let tag = try fixture.entity("Tag")
      try #expect(store.rows(RowQuery(entity: tag)).map(\.key) == [1, 10])
      try #expect(store.rows(RowQuery(entity: tag, keys: [9])).isEmpty)
      try #expect(store.count(RowQuery(entity: tag)) == 3)
      let coordinator = PersistentStoreCoordinator(model: fixture.model)
      try coordinator.add(store)
      for size in 1...4 {
        var labels: [String] = []
        try ManagedObjectContext(coordinator).forEachBatch(of: FetchRequest("Tag"), size: size) { tags in
          labels += tags.compactMap { $0["label"] as? String }
        }
        #expect(labels == ["a", "b"], "in groups of \(size)")
      }
      var problems: [StoreProblem.Kind] = []
      try checkStore(at: #require(store.url), registry: nil) { problems.append($0.kind) }
      #expect(problems == [.unknownEntity])
    }
  }

  @Test("An in-memory store works like one in a file")
  func memory() throws {
    let store = try SQLiteStore.create(nil, model: fixture.model)
    #expect(store.type == "InMemory")
    let large = Data(repeating: 3, count: 200_000)
    _ = try store.commit(RowWrites(inserts: [fixture.insert("Everything", ["large": .data(large)])]))
    let row = try store.rows(RowQuery(entity: fixture.entity("Everything")))[0]
    try #expect(row.values(fixture.model) == ["large": .data(large)])
    try store.close()
    #expect(throws: PersistenceError.self) { try store.count(RowQuery(entity: fixture.entity("Tag"))) }
  }

  @Test("A store is created once; an occupied location isn't overwritten", .aboutFiles("files that are occupied"))
  func creation() throws {
    try withTemporaryStore { url in
      try #expect(SQLiteStore.canCreate(at: url))
      try Data().write(to: url)
      try #expect(SQLiteStore.canCreate(at: url))
      let store = try SQLiteStore.create(url, model: fixture.model)
      _ = try store.commit(RowWrites(inserts: [fixture.insert("Tag", ["label": .string("a")])]))
      try store.close()
      try #expect(!SQLiteStore.canCreate(at: url))
      let again = try SQLiteStore.create(url, model: fixture.model)
      #expect(again.identifier == store.identifier)
      try #expect(again.count(RowQuery(entity: fixture.entity("Tag"))) == 1)
      var metadata = try again.metadata()
      metadata.values["mine"] = .string("x")
      try again.setMetadata(metadata)
      try again.savePendingMetadata()
      try again.close()
      let other = try ManagedObjectModel(ModelDescription(entities: [EntityDescription("Other")]))
      let error = #expect(throws: PersistenceError.self) { try SQLiteStore.open(url, model: other) }
      #expect(error?.code == .incompatibleModel)
      let reader = try SQLiteStore.open(url, model: fixture.model, options: StoreOptions(isReadOnly: true))
      try #expect(reader.metadata().values["mine"] == .string("x"))
      #expect(throws: PersistenceError.self) { try reader.setMetadata(metadata) }
      try reader.close()
    }
  }
}
