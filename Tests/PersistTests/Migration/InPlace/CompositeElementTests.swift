import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Migrating the elements of composite attributes")
struct CompositeElementTests {
  enum Way: CaseIterable {
    case inPlace, bySQL, byObject
  }

  private static func version(
    _ name: String, _ elements: [AttributeDescription], isOptional: Bool = true, default value: StoredValue = .null
  ) throws -> ModelVersion {
    let place = AttributeDescription(
      "place", .composite, isOptional: isOptional, default: value, compositeName: "Place")
    let attributes = [AttributeDescription("name", .string)] + (elements.isEmpty ? [] : [place])
    return ModelVersion(
      name: name,
      model: try ManagedObjectModel(
        ModelDescription(
          entities: [EntityDescription("Item", attributes: attributes)],
          composites: elements.isEmpty ? [] : [CompositeDescription("Place", elements: elements)])))
  }

  private func withContext(
    _ url: URL, _ version: ModelVersion, _ body: (ManagedObjectContext) throws -> Void
  ) throws {
    let coordinator = PersistentStoreCoordinator(model: version.model)
    let store = try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    try body(context)
    try context.save()
    try coordinator.remove(store)
  }

  /// The values of `place` after a migration, in the order in which the objects were created.
  private func migrate(
    _ places: [[String: Any]?], from old: ModelVersion, to new: ModelVersion, _ way: Way
  ) throws -> [[String: AnyHashable]?] {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("old.sqlite")
      try withContext(url, old) { context in
        for (number, place) in places.enumerated() {
          let item = try context.make("Item", ["name": "\(number)"])
          if let place { try item.setValue(place, forKey: "place") }
        }
      }
      var target = url
      if way == .byObject {
        target = folder.appendingPathComponent("new.sqlite")
        try MigrationManager(sourceModel: old.model, destinationModel: new.model).migrateStore(
          from: url, to: target, mappingModel: MappingModel.inferred(from: old.model, to: new.model), policies: [],
          coreDataHashes: nil, goesByObject: true)
      } else {
        let registry = ModelRegistry(versions: [old, new])
        let migrator = AutomaticMigrator(alwaysCopies: way == .bySQL)
        let report = try migrator.migrate(storeAt: url, to: new, registry: registry)
        #expect(report.way == (way == .bySQL ? .copy : .inPlace))
      }
      var problems: [StoreProblem] = []
      // A copy has all files of the store.
      try checkStore(at: target, registry: nil) { if $0.kind != .orphanFile { problems.append($0) } }
      #expect(problems == [])
      var found: [[String: AnyHashable]?] = []
      try withContext(target, new) { context in
        for item in try context.fetch(FetchRequest<ManagedObject>("Item", sortedBy: "name")) {
          found.append((item["place"] as? [String: Any])?.compactMapValues { $0 as? AnyHashable })
        }
      }
      return found
    }
  }

  private static func cover(external: Bool) -> [AttributeDescription] {
    [.init("title", .string), .init("cover", .binary, allowsExternalStorage: external)]
  }

  @Test("Bytes of an element stay the same when external storage is switched on or off", arguments: Way.allCases)
  func externalStorage(way: Way) throws {
    let small = Data([1, 2, 3])
    let places: [[String: Any]?] = [["title": "a", "cover": small], ["title": "b"], nil]
    for isOn in [true, false] {
      let (old, new) = try (
        Self.version("1", Self.cover(external: !isOn)), Self.version("2", Self.cover(external: isOn))
      )
      #expect(
        try ModelComparison(from: old.model, to: new.model).operations.map(\.description)
          == ["change elements Item.place (cover: external storage \(isOn ? "on" : "off"))"])
      let found = try migrate(places, from: old, to: new, way)
      #expect(found == [["title": "a", "cover": small], ["title": "b"], nil], "on: \(isOn)")
    }
  }

  @Test("Bytes of an element return from files when external storage is switched off", arguments: Way.allCases)
  func largeValues(way: Way) throws {
    let (old, new) = try (Self.version("1", Self.cover(external: true)), Self.version("2", Self.cover(external: false)))
    let large = Data(repeating: 7, count: 200_000)
    try #expect(migrate([["cover": large]], from: old, to: new, way) == [["cover": large]])
  }

  @Test("Numbers of an element get its new type", arguments: Way.allCases)
  func types(way: Way) throws {
    let (old, new) = try (Self.version("1", [.init("size", .int16)]), Self.version("2", [.init("size", .double)]))
    let found = try migrate([["size": 7], nil], from: old, to: new, way)
    #expect(found == [["size": 7.0], nil])
  }

  @Test("The default of a new element is for values that exist, not for missing ones", arguments: Way.allCases)
  func newElement(way: Way) throws {
    let city = AttributeDescription("city", .string)
    let (old, new) = try (
      Self.version("1", [city]), Self.version("2", [city, .init("height", .double, default: .double(3))])
    )
    let found = try migrate([["city": "Rome"], nil], from: old, to: new, way)
    #expect(found == [["city": "Rome", "height": 3.0], nil])
  }

  @Test("Missing values of a composite attribute that becomes required get its default", arguments: Way.allCases)
  func filled(way: Way) throws {
    let elements = [AttributeDescription("city", .string), .init("height", .double)]
    let (old, new) = try (
      Self.version("1", elements),
      Self.version("2", elements, isOptional: false, default: .composite(["city": .string("Rome")]))
    )
    let found = try migrate([["height": 3.0], nil], from: old, to: new, way)
    #expect(found == [["height": 3.0], ["city": "Rome"]])
  }

  @Test("A new composite attribute gets its own default, not those of its elements", arguments: Way.allCases)
  func new(way: Way) throws {
    let elements = [AttributeDescription("city", .string), .init("height", .double, default: .double(3))]
    for value in [StoredValue.null, .composite(["city": .string("Rome")])] {
      let (old, new) = try (Self.version("1", []), Self.version("2", elements, default: value))
      let found = try migrate([nil], from: old, to: new, way)
      #expect(found == [value.isNull ? nil : ["city": "Rome"]])
    }
  }

  @Test("Missing values of a composite attribute that becomes required without a default are refused by number")
  func required() throws {
    let elements = [AttributeDescription("city", .string), .init("height", .double)]
    for old in try [Self.version("1", elements), Self.version("1", [])] {
      let new = try Self.version("2", elements, isOptional: false)
      let isNew = old.model.entities[0].attribute(named: "place") == nil
      let places: [[String: Any]?] = isNew ? [nil] : [["height": 3.0], nil]
      let error = #expect(throws: PersistenceError.self) { try migrate(places, from: old, to: new, .inPlace) }
      #expect(error?.code == .mappingNotInferable, "\(String(describing: error))")
      let message = error?.message ?? ""
      #expect(message.contains("'place'") && message.hasSuffix(": 1."), "\(message)")
    }
  }
}
