import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Contents of compiled models")
struct ModelArchiveReaderTests {
  private let archive = ArchiveBuilder()

  private func attribute(_ property: PropertyList) throws -> AttributeDescription {
    let name = "a"
    return try #require(archive.model(["E": archive.entity("E", [name: property])]).entities.first?.attributes.first)
  }

  @Test("Every type has its number", arguments: [
    (0, AttributeType.undefined), (100, .int16), (200, .int32), (300, .int64), (400, .decimal), (500, .double),
    (600, .float), (700, .string), (800, .boolean), (900, .date), (1000, .binary), (1100, .uuid), (1200, .uri),
    (1800, .transformable), (2000, .objectID),
  ] as [(Int64, AttributeType)])
  func types(_ number: Int64, _ type: AttributeType) throws {
    #expect(try attribute(archive.attribute("a", number)) == AttributeDescription("a", type))
  }

  @Test("Defaults have the type of their attribute")
  func defaults() throws {
    func value(_ type: Int64, _ value: PropertyList) throws -> StoredValue {
      try attribute(archive.attribute("a", type, ["NSDefaultValue": value])).defaultValue
    }
    #expect(try value(100, archive.add(.integer(5))) == .integer(5))
    #expect(try value(800, archive.add(.integer(1))) == .boolean(true))
    #expect(try value(500, archive.add(.integer(2))) == .double(2))
    #expect(try value(600, archive.add(.real(Double(Float(0.1))))) == .double(0.1))
    let text = archive.object("NSMutableString", ["NS.string": .string("x")], parents: ["NSString"])
    #expect(try value(700, text) == .string("x"))
    let date = archive.object("NSDate", ["NS.time": .real(-5)])
    #expect(try value(900, date) == .date(Date(timeIntervalSinceReferenceDate: -5)))
    let mantissa = Data([0xF3, 0x03] + [UInt8](repeating: 0, count: 14))
    let decimal = archive.object(
      "NSDecimalNumber",
      [
        "NS.exponent": .integer(-2), "NS.length": .integer(1), "NS.negative": .boolean(true),
        "NS.compact": .boolean(true), "NS.mantissa": .data(mantissa), "NS.mantissa.bo": .integer(1),
      ], parents: ["NSNumber"])
    #expect(try value(400, decimal) == .decimal(Decimal(string: "-10.11") ?? 0))
    let uuid = try #require(UUID(uuidString: "00010203-0405-0607-0809-0A0B0C0D0E0F"))
    #expect(try value(1100, archive.object("NSUUID", ["NS.uuidbytes": .data(Data(0..<16))])) == .uuid(uuid))
    let url = archive.object("NSURL", ["NS.base": ArchiveBuilder.null, "NS.relative": archive.text("https://a.b/c")])
    #expect(try value(1200, url) == .uri("https://a.b/c"))
    let odd = try attribute(archive.attribute("a", 100, ["NSDefaultValue": archive.text("many")]))
    #expect(odd.defaultValue == .null)
    #expect(odd.unknown == ["NSDefaultValue": "many"])
  }

  @Test("Limits are recognized; other predicates are rules")
  func validation() throws {
    let number = { (value: Int64) in archive.constant(archive.add(.integer(value))) }
    let code = { (value: Int64) in archive.add(.integer(value)) }
    func validation(_ type: Int64, _ predicates: [(PropertyList, PropertyList)]) throws -> AttributeValidation {
      try attribute(
        archive.attribute(
          "a", type,
          [
            "NSValidationPredicates": archive.list(predicates.map(\.0)),
            "NSValidationWarnings": archive.list(predicates.map(\.1)),
          ])
      ).validation
    }
    let this = archive.selfExpression
    #expect(
      try validation(200, [
        (archive.comparison(this, 3, number(1)), code(1620)), (archive.comparison(this, 1, number(9)), code(1610)),
      ]) == AttributeValidation(minimum: .integer(1), maximum: .integer(9)))
    #expect(
      try validation(700, [
        (archive.comparison(archive.keyPath("length"), 3, number(2)), code(1670)),
        (archive.comparison(archive.keyPath("length"), 1, number(8)), code(1660)),
        (archive.comparison(this, 6, archive.constant(archive.text("[a-z]+"))), code(1680)),
      ]) == AttributeValidation(minimumLength: 2, maximumLength: 8, pattern: "[a-z]+"))
    #expect(
      try validation(700, [
        (archive.comparison(archive.keyPath("length"), 3, number(2)), archive.text("Name is too short.")),
        (archive.comparison(this, 8, archive.constant(archive.text("A"))), archive.text("Begins with A.")),
      ])
        == AttributeValidation(rules: [
          .init(predicate: "length >= 2", warning: "Name is too short."),
          .init(predicate: "SELF BEGINSWITH \"A\"", warning: "Begins with A."),
        ]))
  }

  @Test("A derived attribute has its expression")
  func derived() throws {
    let count = try attribute(archive.attribute(
      "a", 300, class: "NSDerivedAttributeDescription", ["NSDerivationExpression": archive.keyPath("articles.@count")]))
    #expect(count == AttributeDescription("a", .int64, derivation: "articles.@count"))
    // Whatever the member's name is.
    let upper = try attribute(archive.attribute(
      "a", 700, class: "NSDerivedAttributeDescription",
      ["NSOther": archive.function("uppercase:", [archive.keyPath("title")])]))
    #expect(upper.derivation == "uppercase:(title)")
    #expect(upper.unknown.isEmpty)
  }

  @Test("A composite attribute makes a composite type")
  func composite() throws {
    let location = archive.attribute(
      "a", 2100, class: "NSCompositeAttributeDescription",
      ["NSElements": archive.list([archive.attribute("y", 500), archive.attribute("x", 500)])])
    let model = try archive.model(["E": archive.entity("E", ["a": location])])
    #expect(model.entities.first?.attributes == [AttributeDescription("a", .composite, compositeName: "E_a")])
    let elements = [AttributeDescription("x", .double), AttributeDescription("y", .double)]
    #expect(model.composites == [CompositeDescription("E_a", elements: elements)])
    #expect(ModelCheck.problems(in: model).isEmpty)
  }

  @Test("Requests, fetched properties and configurations are read")
  func requests() throws {
    let entity = archive.entity("E", [:])
    let sort = archive.object(
      "NSSortDescriptor",
      ["NSKey": archive.text("a"), "NSAscending": .boolean(false), "NSSelector": .string("compare:")])
    let request = archive.object(
      "NSFetchRequest",
      [
        "NSEntityName": archive.text("E"), "NSPredicate": archive.object("NSTruePredicate"),
        "NSFetchLimit": .integer(7), "NSSortDescriptors": archive.list([sort]), "NSSomething": archive.text("else"),
      ])
    let fetched = archive.object(
      "NSFetchedPropertyDescription",
      ["NSPropertyName": archive.text("f"), "NSFetchRequest": request, "NSIsOptional": .boolean(true)],
      parents: ["NSPropertyDescription"])
    let model = try archive.model(
      ["E": entity, "F": archive.entity("F", ["f": fetched])],
      [
        "NSFetchRequestTemplates": archive.dictionary(["all": request]),
        "NSConfigurations": archive.dictionary(["Cloud": archive.list([entity])]),
      ])
    let description = FetchRequestDescription(
      entity: "E", predicate: "TRUEPREDICATE", sort: [.init("a", isAscending: false)], fetchLimit: 7,
      unknown: ["NSSomething": "else"])
    #expect(model.fetchRequestTemplates == ["all": description])
    #expect(model.entities.last?.fetchedProperties == [FetchedPropertyDescription("f", request: description)])
    #expect(model.configurations == ["Cloud": ["E"]])
  }

  @Test("Inherited properties, copied or behind proxies, are omitted")
  func inheritance() throws {
    let name = archive.attribute("name", 700)
    let parent = archive.entity("P", ["name": name])
    let proxy = archive.object("_NSPropertyDescriptionProxy", ["NSUnderlying": name])
    let child = archive.entity(
      "C", ["name": archive.attribute("name", 700), "age": archive.attribute("age", 100)], ["NSSuperentity": parent])
    let other = archive.entity(
      "D", ["name": proxy], ["NSSuperentity": parent, "NSUniqueTuples": archive.list([archive.list([proxy])])])
    let model = try archive.model(["P": parent, "C": child, "D": other])
    #expect(model.entities.map { $0.attributes.map(\.name) } == [["age"], [], ["name"]])
    #expect(model.entities.map(\.parent) == ["P", "P", nil])
    #expect(model.entities[1].uniquenessConstraints == [["name"]])
  }

  @Test("Cyclic inheritance is refused")
  func inheritanceCircle() throws {
    let list = PropertyList.dictionary([
      "$top": .dictionary(["root": .uid(1)]),
      "$objects": .array([
        .string("$null"), .dictionary(["$class": .uid(2), "NSEntities": .uid(3)]),
        .dictionary(["$classname": .string("NSManagedObjectModel")]),
        .dictionary(["$class": .uid(4), "NS.keys": .array([.uid(5)]), "NS.objects": .array([.uid(6)])]),
        .dictionary(["$classname": .string("NSDictionary")]), .string("E"),
        .dictionary(["$class": .uid(7), "NSEntityName": .uid(5), "NSSuperentity": .uid(6)]),
        .dictionary(["$classname": .string("NSEntityDescription")]),
      ]),
    ])
    let data = try list.binaryData()
    let error = #expect(throws: PersistenceError.self) { try XcodeModelArchive.model(fromArchive: data) }
    #expect(error?.code == .limitExceeded)
    #expect(error?.place.key == "$objects[6].NSSuperentity")
  }

  @Test("The store of a system application opens with its embedded model", .needsSharedData, arguments: [
    ("notes/NoteStore-macOS-12-Monterey.sqlite", 18), ("notes/NoteStore-macOS-15-Seqoia.sqlite", 20),
  ])
  func notes(_ store: String, _ entityCount: Int) throws {
    let description = try XcodeModelArchive.model(fromModelCache: modelCache(ofStore: store)).description
    #expect(ModelCheck.problems(in: description) == [])
    #expect(description.unknownEverywhere.isEmpty)
    let model = try ManagedObjectModel(description)
    #expect(model.entities.count == entityCount)
    let account = try model.entity(named: "ICAccount")
    #expect(account.superentity?.name == "ICNoteContainer")
    let count = try #require(description.entities.first { $0.name == "ICAccount" }?.attributes.first {
      $0.name == "serverSideUpdateTaskFailureCount"
    })
    #expect(count.validation == AttributeValidation(minimum: .integer(0)))
  }
}
