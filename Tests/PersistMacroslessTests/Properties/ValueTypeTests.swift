import Foundation
import Persist
import PersistMacrosless
import PersistTestSupport
import Testing

private enum Size: String, StorableValue, Codable { case small, large }
private enum Level: Int16, StorableValue { case low = 1, high = 2 }

private struct Money: AttributeValue, Equatable {
  var cents: Int
  init(cents: Int) { self.cents = cents }

  static var attributeType: AttributeType { .int64 }
  init?(stored: StoredValue) {
    guard case .integer(let cents) = stored else { return nil }
    self.cents = Int(cents)
  }
  var stored: StoredValue { .integer(Int64(cents)) }
  static var absent: Money { Money(cents: 0) }
}

private struct Preferences: JSONValue, Equatable {
  var columns: [String] = []
  var isCompact = false
}

private struct Point: CompositeValue, Equatable {
  var x = 0.0
  var y = 0.0
}

private struct Address: CompositeValue, Equatable {
  var street = ""
  var city = "Rome"
  var floor: Int?
  var size = Size.small
  var other: Size?
  var place = Point()
}

/// A composite that refuses to encode some of its values.
private struct Picky: CompositeValue {
  var text = ""

  private enum CodingKeys: String, CodingKey { case text }

  func encode(to encoder: any Encoder) throws {
    guard text != "wrong" else {
      throw EncodingError.invalidValue(text, .init(codingPath: [], debugDescription: "It is wrong."))
    }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(text, forKey: .text)
  }
}

private struct Delivery: CompositeValue, Equatable {
  var floor: Int?
}

private final class Parcel: ManagedObject {
  @Composite var delivery = Delivery(floor: 3)
  @Composite var other: Delivery?
  @Attribute var name = ""
}

private struct Site: CompositeValue, Equatable {
  var city = "Rome"
  var floor: Int?
}

private struct Trip: CompositeValue, Equatable {
  var delivery = Delivery()
}

private final class Depot: ManagedObject {
  @Composite var site = Site(city: "Paris")
  @Composite var trip = Trip(delivery: Delivery(floor: 3))
  @Attribute var name = ""
}

private final class Priced: ManagedObject {
  @Attribute(range: 10.11...19.99) var price: Decimal = 12
}

private final class Everything: ManagedObject {
  @Attribute var int = 1
  @Attribute var int8: Int8 = 2
  @Attribute var int16: Int16 = 3
  @Attribute var int32: Int32 = 4
  @Attribute var int64: Int64 = 5
  @Attribute var uint8: UInt8 = 6
  @Attribute var uint16: UInt16 = 7
  @Attribute var uint32: UInt32 = 8
  @Attribute var double = 1.5
  @Attribute var float: Float = 2.5
  @Attribute var bool = true
  @Attribute var string = "text"
  @Attribute var date = Date(timeIntervalSinceReferenceDate: 0)
  @Attribute var data = Data([1])
  @Attribute var uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
  @Attribute var url = URL(filePath: "/")
  @Attribute var decimal: Decimal = 10.25
  @Attribute var size = Size.small
  @Attribute var level: Level?
  @Attribute var money = Money(cents: 5)
  @Attribute var preferences = Preferences()
  @Composite var address = Address()
  @Composite var second: Address?
  @Transient var selected = false
  @Attribute var nothing: String?
}

@Suite("Types of declared attributes")
struct ValueTypeTests {
  @Test("Key paths lead to properties of types without an empty value")
  func keyPaths() throws {
    let context = try makeContext(Everything.self)
    let object = Everything(context: context)
    object.size = .large
    try context.save()
    let rows = try context.fetch(Everything.sorted(by: \.size).rows(of: \.size, \.uuid, \.url, \.money))
    #expect(rows.map { $0["uuid"] as? UUID } == [object.uuid])
    #expect(rows.map { $0["size"] as? String } == ["large"])
    #expect(try context.execute(Everything.where(\.size == .large).setting(\.size, to: .small)).count == 1)
  }

  @Test("Values of every type are read back after reopening")
  func values() throws {
    try withTemporaryStore { store in
      let address = Address(
        street: "Via Appia", city: "Ostia", floor: 3, size: .large, other: .large, place: Point(x: 1, y: -2))
      do {
        let context = try makeContext(Everything.self, at: store)
        let object = Everything(context: context)
        #expect((object.int8, object.uint32, object.float, object.size) == (2, 8, 2.5, .small))
        #expect(object.address == Address())
        (object.int, object.int8, object.int16, object.int32, object.int64) = (-1, -2, -3, -4, .max)
        (object.uint8, object.uint16, object.uint32) = (.max, .max, .max)
        (object.double, object.float, object.bool) = (-0.25, 1.25, false)
        (object.string, object.date, object.data) = ("é", Date(timeIntervalSinceReferenceDate: 5.5), Data([9, 8]))
        (object.uuid, object.url, object.decimal) = (UUID(), URL(filePath: "/tmp"), -3.75)
        (object.size, object.level, object.money) = (.large, .high, Money(cents: 250))
        object.preferences.columns.append("name")
        object.address = address
        object.second = address
        object.second?.floor = nil
        object.selected = true
        try context.save()
      }
      let context = try makeContext(Everything.self, at: store)
      let object = try #require(try context.fetch(Everything.self, FetchRequest("Everything")).first)
      #expect((object.int, object.int8, object.int16, object.int32, object.int64) == (-1, -2, -3, -4, .max))
      #expect((object.uint8, object.uint16, object.uint32) == (.max, .max, .max))
      #expect((object.double, object.float, object.bool) == (-0.25, 1.25, false))
      #expect((object.string, object.data) == ("é", Data([9, 8])))
      #expect(object.date == Date(timeIntervalSinceReferenceDate: 5.5))
      #expect(object.url == URL(filePath: "/tmp"))
      #expect((object.decimal, object.size, object.level, object.money) == (-3.75, .large, .high, Money(cents: 250)))
      #expect(object.preferences == Preferences(columns: ["name"]))
      #expect(object.address == address)
      #expect(object.second?.city == "Ostia")
      #expect(object.second?.floor == nil)
      #expect(!object.selected)
      #expect(object.nothing == nil)
      object.second = nil
      try context.save()
      let again = try #require(try makeContext(Everything.self, at: store).fetched(Everything.self))
      #expect(again.object.second == nil)
    }
  }

  @Test("A composite whose parts are all nil reads as it was saved, not as the default; an optional one reads nil")
  func missingParts() throws {
    try withTemporaryStore { store in
      do {
        let context = try makeContext(Parcel.self, at: store)
        let parcel = Parcel(context: context)
        #expect(parcel.delivery == Delivery(floor: 3))
        parcel.delivery.floor = nil
        parcel.other = Delivery()
        try context.save()
        #expect(parcel.delivery == Delivery())
      }
      do {
        let context = try makeContext(Parcel.self, at: store)
        let parcel = try #require(try context.fetch(Parcel.self, FetchRequest("Parcel")).first)
        #expect(parcel.delivery == Delivery())
        #expect(parcel.other == nil)
        parcel.name = "Book"
        try context.save()
      }
      let context = try makeContext(Parcel.self, at: store)
      let parcel = try #require(try context.fetch(Parcel.self, FetchRequest("Parcel")).first)
      #expect(parcel.name == "Book")
      #expect(parcel.delivery == Delivery())
    }
  }

  @Test("A composite without stored parts, some of which can't be nil, reads as the default and counts as missing")
  func missingRequiredParts() throws {
    try withTemporaryStore { store in
      do {
        let context = try makeContext(Depot.self, at: store)
        let depot = Depot(context: context)
        let slot = try #require(context.entity(named: "Depot").property(named: "site")?.slot)
        depot.setAttributeValue(.composite([:]), at: slot)
        depot.trip.delivery.floor = nil
        try context.save()
      }
      let context = try makeContext(Depot.self, at: store)
      let depot = try #require(try context.fetch(Depot.self, FetchRequest("Depot")).first)
      #expect(depot.site == Site(city: "Paris") && depot.trip == Trip())
      depot.name = "North"
      let error = #expect(throws: PersistenceError.self) { try context.save() }
      #expect(error?.code == .validationMissingRequired && error?.place.property == "site")
      depot.site = Site(city: "Paris")
      try context.save()
    }
  }

  @Test("A value that isn't valid for the type reads as the property's default")
  func unreadable() throws {
    try withTemporaryStore { store in
      do {
        let coordinator = PersistentStoreCoordinator(
          model: try ManagedObjectModel {
            EntityDescription("Sized") {
              AttributeDescription("size", .string)
              AttributeDescription("small", .int16)
              AttributeDescription("number", .int64)
            }
          })
        try coordinator.addStore(at: store)
        let context = ManagedObjectContext(coordinator)
        let object = ManagedObject(entity: "Sized", context: context)
        object["size"] = "gigantic"
        object["small"] = 1000
        try context.save()
      }
      let context = try makeContext(Sized.self, at: store)
      let object = try #require(try context.fetch(Sized.self, FetchRequest("Sized")).first)
      #expect((object.size, object.small, object.number) == (.large, 7, 0))
    }
  }

  @Test("Each Swift type has its type in the model, and optionals are optional")
  func types() throws {
    let entity = try ManagedObjectModel(Everything.self).entity(named: "Everything")
    let types: [String: AttributeType] = [
      "int": .int64, "int8": .int16, "int16": .int16, "int32": .int32, "uint8": .int16, "uint16": .int32,
      "uint32": .int64, "double": .double, "float": .float, "bool": .boolean, "string": .string, "date": .date,
      "data": .binary, "uuid": .uuid, "url": .uri, "decimal": .decimal, "size": .string, "level": .int16,
      "money": .int64, "preferences": .string, "address": .composite, "second": .composite, "selected": .boolean,
    ]
    for (name, type) in types { #expect(entity.attribute(named: name)?.type == type, "\(name)") }
    #expect(entity.attribute(named: "level")?.isOptional == true)
    #expect(entity.attribute(named: "int")?.isOptional == false)
    #expect(entity.attribute(named: "selected")?.isTransient == true)
  }

  @Test("The limits of a decimal attribute are the numbers in the declaration, not the nearest binary ones")
  func decimalLimits() throws {
    let entity = try ManagedObjectModel(Priced.self).entity(named: "Priced")
    let limits = try #require(entity.attribute(named: "price")).validation
    #expect(limits.minimum == Decimal(string: "10.11").map(StoredValue.decimal))
    #expect(limits.maximum == Decimal(string: "19.99").map(StoredValue.decimal))
  }

  @Test("A composite value that can't be encoded stops the program with a message, and doesn't become null")
  func unencodable() async {
    #expect(Picky(text: "right").stored == .composite(["text": "right"]))
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Picky(text: "wrong").stored
    }
    #expect(result?.says("A value of type Picky can't be encoded") == true)
  }

  @Test("A predicate can use the parts of a composite")
  func compositeParts() throws {
    try withTemporaryStore { store in
      let context = try makeContext(Everything.self, at: store)
      for city in ["Rome", "Paris"] { Everything(context: context).address.city = city }
      try context.save()
      let found = try context.fetch(FetchRequest("Everything", where: "address.city == 'Paris'"))
      #expect(found.count == 1)
    }
  }
}

private final class Sized: ManagedObject {
  @Attribute(optional: true) var size = Size.large
  @Attribute(optional: true) var small: Int8 = 7
  @Attribute(optional: true) var number: Int
}

extension ManagedObjectContext {
  /// The only object of a class, with the context that retains it.
  fileprivate func fetched<Object: ManagedObject>(
    _ type: Object.Type
  ) throws -> (object: Object, context: ManagedObjectContext)? {
    try fetch(type, FetchRequest(String(describing: type))).first.map { ($0, self) }
  }
}
