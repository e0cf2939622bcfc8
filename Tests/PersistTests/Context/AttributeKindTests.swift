import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Kinds of attributes")
struct AttributeKindTests {
  @Test("Defaults of every kind read back from the description with their types (ATT-01)")
  func defaults() throws {
    let date = Date(timeIntervalSinceReferenceDate: 445_103_622.25)
    let uuid = UUID()
    let wanted: [(AttributeType, StoredValue)] = [
      (.int16, .integer(16)), (.int32, .integer(32)), (.int64, .integer(64)), (.decimal, .decimal(Decimal(1) / 10)),
      (.float, .double(0.5)), (.double, .double(0.1)), (.string, .string("text")), (.boolean, .boolean(true)),
      (.date, .date(date)), (.uuid, .uuid(uuid)), (.uri, .uri("https://swift.org")),
      (.binary, .data(Data([1, 2]))), (.transformable, .data(Data([3]))),
    ]
    let attributes = wanted.map { type, value in
      AttributeDescription(type.rawValue, type, default: value, allowsExternalStorage: type == .binary)
    }
    let description = ModelDescription(entities: [EntityDescription("Sample", attributes: attributes)])
    try withStack(description) { stack in
      for (type, value) in wanted {
        let read = try stack.model.entity(named: "Sample").attribute(named: type.rawValue)
        #expect(read?.type == type && read?.defaultValue == value && read?.allowsExternalStorage == (type == .binary))
      }
      let context = stack.context()
      let object = try context.make("Sample")
      try context.save()
      let again = try stack.reopened().context().existingObject(
        with: try #require(stack.coordinator.managedObjectID(forURIRepresentation: object.objectID.uriRepresentation())))
      for (type, value) in wanted {
        let slot = try #require(again.entity.property(named: type.rawValue)).slot
        #expect(again.attributeValue(at: slot) == value, "\(type)")
      }
    }
  }

  @Test("A date survives saving to within a millisecond, and an absent date stays absent (ATT-02)")
  func dates() throws {
    try withStack(SampleModels.types) { stack in
      let date = Date(timeIntervalSinceReferenceDate: 445_103_622.25)
      let context = stack.context()
      try context.make("Sample", ["date": date, "string": "with"])
      try context.make("Sample", ["string": "without"])
      try context.save()
      let again = try stack.reopened().context()
      let read = try #require(again.named("Sample", "with", by: "string")["date"] as? Date)
      #expect(abs(read.timeIntervalSince(date)) < 0.001)
      try #expect(again.named("Sample", "without", by: "string")["date"] == nil)
    }
  }

  private static let places = ModelDescription(
    entities: [
      EntityDescription(
        "Place",
        attributes: [
          AttributeDescription("name", .string),
          AttributeDescription("location", .composite, compositeName: "Coordinate"),
          AttributeDescription("officeHours", .composite, compositeName: "Hours"),
        ])
    ],
    composites: [
      CompositeDescription(
        "Coordinate",
        elements: [AttributeDescription("latitude", .double), AttributeDescription("longitude", .double)]),
      CompositeDescription(
        "Hours", elements: [AttributeDescription("start", .int16), AttributeDescription("end", .int16)]),
    ])

  @Test("Elements of composites can be used to filter and sort, in the store and among unsaved objects (ATT-04)")
  func composites() throws {
    try withStack(Self.places) { stack in
      let context = stack.context()
      try context.make(
        "Place",
        ["name": "North", "location": ["latitude": 40.7, "longitude": -74], "officeHours": ["start": 9, "end": 17]])
      try context.make(
        "Place",
        ["name": "South", "location": ["latitude": -25.8, "longitude": 34.51446212994721], "officeHours": ["start": 6]])
      for _ in 0..<2 {
        let found = try context.fetch(FetchRequest("Place", where: "location.latitude > 30"))
        #expect(found.map { $0["name"] as? String } == ["North"])
        let sorted = try context.fetch(FetchRequest("Place", sortedBy: "officeHours.start"))
        #expect(sorted.map { $0["name"] as? String } == ["South", "North"])
        try context.save()
      }
      let again = try stack.reopened().context()
      let sorted = try again.fetch(FetchRequest("Place", sortedBy: "officeHours.start", isAscending: false))
      #expect(sorted.map { $0["name"] as? String } == ["North", "South"])
      try #expect(again.count(for: FetchRequest("Place", where: "location.latitude > 30")) == 1)
      let south = sorted[1]
      #expect((south["location"] as? [String: Any])?["longitude"] as? Double == 34.51446212994721)
      south["location"] = ["latitude": 1.5]
      try again.save()
      let fresh = ManagedObjectContext(again.persistentStoreCoordinator)
      let last = try fresh.named("Place", "South")
      let read = try #require(last["location"] as? [String: Any])
      #expect(read["latitude"] as? Double == 1.5 && read["longitude"] == nil)
      last["location"] = nil
      try fresh.save()
      try #expect(ManagedObjectContext(again.persistentStoreCoordinator).named("Place", "South")["location"] == nil)
    }
  }

  @Test("Sorting by a composite itself, or by a missing element, is refused with a fix")
  func unsortable() throws {
    try withStack(Self.places) { stack in
      for key in ["location", "location.height", "name.latitude", "height"] {
        let error = persistError { _ = try stack.context().fetch(FetchRequest("Place", sortedBy: key)) }
        #expect(error?.code == .unknownProperty && error?.fix != nil, "\(key)")
      }
    }
  }

  @Test(
    "The file of a changed or deleted large value is deleted after the save, not before, and no other file is",
    .aboutFilesOfLargeValues)
  func largeValues() throws {
    try withStack(SampleModels.types) { stack in
      let folder = ExternalDataFolder(storeAt: stack.url)
      let context = stack.context()
      let sample = try context.make("Sample", ["external": Data(repeating: 1, count: 200_000)])
      #expect(folder.names().isEmpty)
      try context.save()
      let first = folder.names()
      #expect(first.count == 1)
      sample["external"] = Data(repeating: 2, count: 200_000)
      #expect(folder.names() == first)
      try context.save()
      let second = folder.names()
      #expect(second.count == 1 && second != first)
      sample["external"] = Data([1])
      try context.save()
      #expect(folder.names().isEmpty)
      sample["external"] = Data(repeating: 3, count: 200_000)
      try context.save()
      context.delete(sample)
      #expect(folder.names().count == 1)
      context.rollback()
      #expect(folder.names().count == 1)
      context.delete(sample)
      try context.save()
      #expect(folder.names().isEmpty)
    }
  }
}
