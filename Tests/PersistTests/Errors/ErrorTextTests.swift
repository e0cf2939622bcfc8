import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Error texts")
struct ErrorTextTests {
  @Test("Advice shared by several consecutive errors is printed once, after the last of them")
  func repeatedAdvice() {
    let losses = ["a", "b", "c"].map { name in
      MigrationBlocker(
        refusing: MigrationLoss(entity: "Item", property: name, what: "attribute removed", rows: 2),
        isParkedIfAllowed: true, notParkedBecause: nil)
    }
    let other = MigrationBlocker(what: "Something else stands in the way.", fix: "Move it.")
    let plan = MigrationPlan(from: "1", to: "2", way: .impossible, blockers: losses + [other])
    for text in [plan.description, plan.error?.description ?? ""] {
      #expect(text.components(separatedBy: "Allow it").count == 2)
      for name in ["a", "b", "c"] {
        #expect(text.contains("Item.\(name): attribute removed, 2 rows: the new model has no place for these values."))
      }
      #expect(text.contains("Move it."))
      let advice = text.range(of: "Allow it")?.lowerBound
      let last = text.range(of: "Item.c")?.lowerBound
      #expect(advice.flatMap { advice in last.map { $0 < advice } } == true)
    }
    #expect(plan.error?.errors.allSatisfy { $0.fix != nil } == true)
  }

  @Test("A message that begins with its place doesn't repeat it after the place in a log")
  func repeatedPlace() {
    let loss = MigrationBlocker(
      refusing: MigrationLoss(entity: "Item", property: "a", what: "attribute removed", rows: 2),
      isParkedIfAllowed: true, notParkedBecause: nil
    ).error
    let message = "Item.a: attribute removed, 2 rows: the new model has no place for these values."
    #expect(loss.message == message)
    #expect(loss.description.contains(" at \(message) "), "\(loss)")
    let other = PersistenceError(.migrationFailed, at: .property("Item", "a"), "Item.ab: attribute removed.")
    #expect(other.description.hasSuffix(" at Item.a: Item.ab: attribute removed."), "\(other)")
  }

  @Test("Names from outside reach a terminal only with escapes in each text of an error, its lines remain")
  func interpretedCharacters() {
    let odd = "\u{1B}[31m\u{202E}name\u{2028}\u{7}\r"
    let inner = PersistenceError(.unknownProperty, at: .property(odd, odd), "\(odd) is inner.", fix: odd)
    let store = URL(fileURLWithPath: "/\(odd)")
    var place = PersistenceError.Place(entity: odd, store: store, key: odd, sql: "SELECT\n\(odd)")
    place.file = URL(fileURLWithPath: "/folder/\(odd)")
    let message = "No '\(odd)'."
    let error = PersistenceError(
      .unknownEntity, at: place, message, engineMessage: odd, fix: odd, errors: [inner])
    for text in [error.description, error.localizedDescription, String(describing: error)] {
      #expect(!text.unicodeScalars.contains { $0 != "\n" && $0.isInterpreted }, "\(text)")
      #expect(text.contains(#"\u{1B}[31m\u{202E}name\u{2028}\u{07}\r"#) && text.contains("\n- "), "\(text)")
    }
  }

  /// Every existing code, as listed in its source.
  private static func codes() throws -> [PersistenceError.Code] {
    let source = PackageFolder.url.appendingPathComponent("Sources/Persist/Errors/PersistenceError+Code.swift")
    return try String(contentsOf: source, encoding: .utf8).matches(of: /Self\(([0-9_]+), "([a-zA-Z]+)"\)/).map { match in
      PersistenceError.Code(try #require(Int(match.1.replacing("_", with: ""))), String(match.2))
    }
  }

  @Test("An error of any code tells clients nothing of folders, SQL and SQLite's messages, and a log all of it")
  func everyCode() throws {
    let store = URL(fileURLWithPath: "/srv/secret folder/Shop.sqlite")
    let codes = try Self.codes()
    #expect(codes.count > 45)
    for code in codes {
      let inner = PersistenceError(
        code, at: .init(row: 7, store: store, sql: "SELECT ZNAME FROM ZITEM"),
        "'\(store.path)' and \(store.path)-wal fail.",
        engineMessage: "no such table: ZITEM (1)", fix: "Look into '/srv/secret folder'.")
      let error = PersistenceError(
        code, at: .init(entity: "Item", store: store), "Two files in /srv/secret folder fail.",
        engineMessage: "no such table: ZITEM (1)", errors: [inner, inner])
      let text = error.localizedDescription
      #expect(
        text == """
          Item: Two files in secret folder fail.
          - 'Shop.sqlite' and Shop.sqlite-wal fail.
          - 'Shop.sqlite' and Shop.sqlite-wal fail.
          """)
      for known in ["/srv/secret folder/Shop.sqlite", "SELECT ZNAME", "no such table", "Look into"] {
        #expect(error.description.contains(known))
      }
    }
  }

  /// Causes errors as programs encounter them. Each closure is passed a separate folder.
  private static let occasions: [(code: PersistenceError.Code, occasion: @Sendable (URL) throws -> Void)] = [
    (.storeOpenFailed, { _ = try add(Self.people(), $0.appendingPathComponent("nowhere/Store.sqlite")) }),
    (
      .storeDamaged,
      { folder in
        let url = folder.appendingPathComponent("Store.sqlite")
        _ = try add(Self.people(), url)
        var bytes = try Data(contentsOf: url)
        bytes.replaceSubrange(100..<bytes.count, with: Data(repeating: 0xA5, count: bytes.count - 100))
        let damaged = folder.appendingPathComponent("Damaged.sqlite")
        try bytes.write(to: damaged)
        _ = try add(Self.people(), damaged)
      }
    ),
    (
      .notAStore,
      { folder in
        let url = folder.appendingPathComponent("Store.sqlite")
        try BuiltProgram.run("SQLRunner", try plainDatabase(url).path, "CREATE TABLE OTHER (A)")
        _ = try add(Self.people(), url)
      }
    ),
    (
      .incompatibleModel,
      { folder in
        let url = folder.appendingPathComponent("Store.sqlite")
        let coordinator = try add(Self.people(), url)
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        _ = try add(SampleModels.pets, url)
      }
    ),
    (
      .storeBusy,
      { folder in
        let url = folder.appendingPathComponent("Store.sqlite")
        let coordinator = try add(Self.people(), url, StoreOptions(busyTimeout: .zero))
        let holder = try SQLiteConnection(url, mode: .readWrite)
        try holder.execute(.beginWriting)
        defer { holder.close() }
        try save(in: coordinator)
      }
    ),
    (
      .storeExchanged,
      { folder in
        let url = folder.appendingPathComponent("Store.sqlite")
        let coordinator = try add(Self.people(), url)
        try save(in: coordinator)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
          try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
        try save(in: coordinator)
      }
    ),
    (
      .storeReadOnly,
      { folder in
        let url = folder.appendingPathComponent("Store.sqlite")
        for store in try [add(Self.people(), url)] { withExtendedLifetime(store) {} }
        try save(in: add(Self.people(), url, StoreOptions(isReadOnly: true)))
      }
    ),
    (
      .storeOpenFailed,
      { folder in
        let (url, copy) = (folder.appendingPathComponent("Store.sqlite"), folder.appendingPathComponent("Copy.sqlite"))
        let coordinator = try add(Self.people(), url)
        let store = try #require(coordinator.persistentStores.first)
        try coordinator.backUp(store, to: copy)
        try coordinator.addStore(at: copy)
      }
    ),
    (
      .sqlite,
      { folder in
        let url = folder.appendingPathComponent("Store.sqlite")
        let coordinator = try add(Self.people(), url)
        try BuiltProgram.run(
          "SQLRunner", url.path,
          "CREATE TRIGGER T BEFORE INSERT ON ZPERSON BEGIN SELECT RAISE(ABORT, 'ZPERSON is closed'); END")
        try save(in: coordinator)
      }
    ),
  ]

  private static func people() -> ModelDescription { SampleModels.people }

  private static func plainDatabase(_ url: URL) throws -> URL {
    try Data().write(to: url)
    return url
  }

  @discardableResult
  private static func add(
    _ model: ModelDescription, _ url: URL, _ options: StoreOptions = StoreOptions()
  ) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(model))
    try coordinator.addStore(at: url, options: options)
    return coordinator
  }

  private static func save(in coordinator: PersistentStoreCoordinator) throws {
    let context = ManagedObjectContext(coordinator)
    try context.make("Person", ["name": "Ann"])
    try context.save()
  }

  @Test("Errors from stores name no folder and no SQL to clients", arguments: occasions.indices)
  func realErrors(number: Int) throws {
    try withTemporaryFolder { folder in
      let (code, occasion) = Self.occasions[number]
      let error = try #require(persistError { try occasion(folder) })
      #expect([code, .constraintConflict].contains(error.code), "\(error)")
      let text = error.localizedDescription
      #expect(!text.contains(folder.path) && !text.contains(folder.lastPathComponent) && !text.contains("/"), "\(text)")
      for internals in ["ZPERSON", "Z_PK", "SELECT", "INSERT", "SQLite says"] {
        #expect(!text.contains(internals), "\(text)")
      }
      #expect(error.description.contains(folder.lastPathComponent), "\(error)")
    }
  }

  @Test("A conflict is described once, alone or among several, to clients and in logs")
  func conflicts() throws {
    try withStack(SampleModels.people) { stack in
      let (first, second) = (stack.context(), stack.context())
      for name in ["Ann", "Ben"] { try first.make("Person", ["name": name]) }
      try first.save()
      let people = try second.fetch(FetchRequest("Person", sortedBy: "name"))
      for person in people { _ = person["name"] }
      for person in try first.fetch(FetchRequest("Person")) { person["salary"] = 1 }
      try first.save()
      for count in 1...2 {
        people[count - 1]["salary"] = 2
        let error = try #require(persistError { try second.save() })
        #expect(error.mergeConflicts.count == count && error.errors.count == (count == 1 ? 0 : count))
        for text in [error.localizedDescription, error.description] {
          for row in 1...count {
            let sentence = "Person \(row) was changed by others since it was read, from version 1 to 2."
            #expect(text.components(separatedBy: sentence).count == 2, "\(text)")
          }
        }
      }
    }
  }
}
