import Foundation
import Persist
import PersistMacrosless
import PersistTestSupport
import Testing

private enum Old {
  enum Kind: String, StorableValue, Codable { case home, work, gone }
  struct Place: CompositeValue, Equatable { var x = 0.0; var note: String? }
  struct Address: CompositeValue, Equatable {
    var street = ""
    var zip = ""
    var kind = Kind.home
    var place = Place()
    var label: Words = Words()
  }
  struct Nothing: CompositeValue { var a: Int?; var b: String? }
  struct Words: JSONValue, Equatable { var list: [String] = [] }
  struct Row: JSONValue { var name = ""; var kind = Kind.home }
  struct Window: Codable { var width = 1.0 }
  struct Settings: JSONValue {
    var rows: [Row] = []
    var window = Window()
    var named: [String: Row] = [:]
    var removed = 7
    var kind = Kind.home
    var size = 3
    var note: String?
  }
  final class Person: ManagedObject {
    @Attribute var name = ""
    @Composite var address = Address()
    @Composite var second: Address?
    @Composite var none: Address?
    @Composite var nothing = Nothing()
    @Attribute var kind = Kind.home
    @Attribute var other: Kind?
    @Attribute var settings = Settings()
  }
}

private enum New {
  enum Kind: String, StorableValue, Codable, RenamedCases {
    case home, office
    static var renamedCases: [String: Kind] { ["work": .office] }
  }
  struct Place: CompositeValue, Equatable { var x = 0.0; var note: String?; var y = 9.5; var mark: String? = "M" }
  struct Extra: CompositeValue, Equatable { var amount = 4; var unit: String? = "kg" }
  struct Address: CompositeValue, Equatable {
    static var renamedParts: [String: String] { ["zip": "postcode"] }
    var street = ""
    var postcode = "none"
    var kind = Kind.office
    var place = Place()
    var label: Words = Words()
    var isMain = true
    var extra = Extra(amount: 5, unit: "g")
  }
  struct Nothing: CompositeValue, Equatable { var a: Int?; var b: String?; var c = "c" }
  struct Words: JSONValue, Equatable { var list: [String] = []; var language = "en" }
  struct Row: JSONValue, Equatable { var name = ""; var kind = Kind.home; var height = 10 }
  struct Window: Codable, Equatable { var width = 1.0; var height = 2.0 }
  struct Settings: JSONValue, Equatable {
    static var renamedMembers: [String: String] { ["note": "remark"] }
    var rows: [Row] = []
    var window = Window()
    var named: [String: Row] = [:]
    var kind = Kind.office
    var size = "large"
    var remark: String?
    var isCompact = true
  }
  final class Person: ManagedObject {
    @Attribute var name = ""
    @Composite var address = Address()
    @Composite var second: Address?
    @Composite var none: Address?
    @Composite var nothing = Nothing()
    @Attribute var kind = Kind.home
    @Attribute var other: Kind?
    @Attribute var settings = Settings()
  }
}

@Suite("Values of types that grow")
struct GrowingTypeTests {
  private func seed(_ url: URL, _ kind: Old.Kind) throws {
    let context = try makeContext(Old.Person.self, at: url)
    let person = Old.Person(context: context)
    person.name = "Ada"
    person.address = Old.Address(
      street: "Main", zip: "11", kind: kind, place: .init(x: 1, note: "n"), label: .init(list: ["a"]))
    person.second = person.address
    (person.kind, person.other) = (kind, kind)
    person.settings = Old.Settings(
      rows: [.init(name: "r", kind: kind), .init(name: "s")], window: .init(width: 5), named: ["k": .init(name: "d")],
      removed: 99, kind: kind, size: 8, note: "o")
    try context.save()
  }

  private func open(_ url: URL, _ options: StoreOptions = .automaticMigration) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(New.Person.self))
    try coordinator.addStore(at: url, options: options)
    return ManagedObjectContext(coordinator)
  }

  private func person(_ context: ManagedObjectContext) throws -> New.Person {
    try #require(try context.fetch(FetchRequest<New.Person>("Person")).first)
  }

  private var address: New.Address {
    New.Address(street: "Main", postcode: "11", place: .init(x: 1, note: "n"), label: .init(list: ["a"]))
  }

  @Test("New parts have their declared defaults, renamed parts and cases their values")
  func newParts() throws {
    try withTemporaryStore { url in
      try seed(url, .work)
      let context = try open(url)
      let person = try person(context)
      #expect(person.address == address && person.second == address && person.none == nil)
      #expect(person.nothing == New.Nothing())
      #expect(person.kind == .office && person.other == .office)
      #expect(person.settings.rows == [.init(name: "r", kind: .office), .init(name: "s")])
      #expect(person.settings.window == .init(width: 5) && person.settings.named == ["k": .init(name: "d")])
      #expect(person.settings.remark == "o" && person.settings.isCompact)
      let error = #expect(throws: PersistenceError.self) { try context.save() }
      #expect(error?.place.property == "settings.size")
      for format in ["address.isMain == YES", "second.place.y == 9.5", "address.postcode == '11'"] {
        #expect(try context.count(for: FetchRequest<New.Person>("Person", where: format)) == 1)
      }
    }
  }

  @Test("What can't be read costs only itself, is reported once, and stays stored until it is set")
  func unreadable() throws {
    try withTemporaryStore { url in
      try seed(url, .gone)
      do {
        let context = try open(url)
        let person = try person(context)
        #expect(person.address == address && person.second == address)
        #expect(person.kind == .home && person.other == nil)
        #expect(person.settings.rows.map(\.name) == ["r", "s"] && person.settings.size == "large")
        let error = #expect(throws: PersistenceError.self) { try context.save() }
        #expect(
          error?.errors.compactMap(\.place.property) == [
            "address.kind", "second.kind", "kind", "other", "settings.rows.0.kind", "settings.kind", "settings.size",
          ])
        _ = person.address
        try context.save()
        person.address.street = "Side"
        person.second?.label.list.append("b")
        person.settings.rows.append(.init(name: "t"))
        person.settings.window.height = 3
        person.name = "Bea"
        try context.save()
      }
      do {
        let context = try open(url)
        let raw = try #require(try context.fetch(FetchRequest<ManagedObject>("Person")).first)
        #expect(try raw.value(forKeyPath: "address.kind") as? String == "gone")
        #expect(try raw.value(forKeyPath: "second.kind") as? String == "gone")
        #expect(raw["kind"] as? String == "gone" && raw["other"] as? String == "gone")
        #expect(
          raw["settings"] as? String
            == #"{"isCompact":true,"kind":"gone","named":{"k":{"height":10,"kind":"home","name":"d"}},"remark":"o","#
            + #""removed":99,"rows":[{"height":10,"kind":"gone","name":"r"},{"height":10,"kind":"home","name":"s"},"#
            + #"{"height":10,"kind":"home","name":"t"}],"size":8,"window":{"height":3,"width":5}}"#)
        let person = try person(context)
        #expect(person.address.street == "Side" && person.second?.label.list == ["a", "b"])
        person.address.kind = .home
        person.settings.size = "small"
        (person.kind, person.other) = (.office, nil)
        _ = #expect(throws: PersistenceError.self) { try context.save() }
        try context.save()
      }
      let context = try open(url)
      let person = try person(context)
      #expect(person.address.kind == .home && person.settings.size == "small")
      #expect(person.kind == .office && person.other == nil)
    }
  }

  @Test("A migrator that refuses loss refuses values that the new types can't read, and names them")
  func refusing() throws {
    try withTemporaryStore { url in
      try seed(url, .gone)
      for copies in [false, true] {
        let migrator = AutomaticMigrator(allowsLoss: false, alwaysCopies: copies)
        let error = #expect(throws: PersistenceError.self) { try open(url, StoreOptions(migrator: migrator)) }
        let unreadable = error?.errors.filter { $0.code == .typeMismatch } ?? []
        #expect(unreadable.compactMap(\.place.property) == ["address", "kind", "other", "second", "settings"])
        #expect(unreadable.first?.message.contains("'address.kind' of row 1 is 'gone', which Kind can't read") == true)
      }
      // The store still has its model.
      let person = try #require(try makeContext(Old.Person.self, at: url).fetch(FetchRequest<Old.Person>("Person")).first)
      #expect(person.kind == .gone && person.address.zip == "11")
    }
  }

  @Test("A store that needs no migration is refused as well if a type can't read its values")
  func refusingWithoutMigration() throws {
    enum Before {
      enum Kind: String, StorableValue { case home, gone }
      final class Place: ManagedObject { @Attribute var kind = Kind.home; @Attribute(type: .int16) var number = 0 }
    }
    enum After {
      enum Kind: String, StorableValue { case home }
      final class Place: ManagedObject { @Attribute var kind = Kind.home; @Attribute var number: Int8 = 0 }
    }
    try withTemporaryStore { url in
      do {
        let context = try makeContext(Before.Place.self, at: url)
        for number in [1, 127, 128, 300, -129] {
          let place = Before.Place(context: context)
          (place.kind, place.number) = (number < 300 ? .gone : .home, number)
        }
        try context.save()
      }
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(After.Place.self))
      let error = #expect(throws: PersistenceError.self) { try coordinator.addStore(at: url, options: .refusingLoss) }
      #expect(error?.code == .typeMismatch && error?.errors.map(\.place.property) == ["kind", "number"])
      #expect(error?.errors.first?.message.contains("Place.kind: 4 rows; 'kind' of row 1 is 'gone'") == true)
      #expect(error?.errors.last?.message.contains("Place.number: 3 rows") == true)
      #expect(coordinator.persistentStores.isEmpty)
      try coordinator.addStore(at: url, options: .automaticMigration)
    }
  }

  @Test("An object that is refreshed reports again what it can't read")
  func refreshing() throws {
    try withTemporaryStore { url in
      try seed(url, .gone)
      let context = try open(url)
      let person = try person(context)
      for _ in 0..<2 {
        _ = person.kind
        let error = #expect(throws: PersistenceError.self) { try context.save() }
        #expect(error?.code == .typeMismatch && error?.place.property == "kind")
        context.refresh(person, mergeChanges: false)
      }
    }
  }

  @Test("A renamed part that the type doesn't have is a problem of the model")
  func wrongRename() throws {
    struct Wrong: CompositeValue {
      static var renamedParts: [String: String] { ["a": "b"] }
      var c = 0
    }
    final class Holder: ManagedObject { @Composite var wrong = Wrong() }
    let error = #expect(throws: PersistenceError.self) { try ManagedObjectModel(Holder.self) }
    #expect(error?.code == .invalidModel && error?.message.contains("'b'") == true)
  }
}
