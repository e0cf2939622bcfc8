import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Importing")
struct ImportTests {
  private static func attribute(
    _ name: String, _ type: AttributeType, default value: StoredValue = .null, _ userInfo: [String: String] = [:]
  ) -> AttributeDescription {
    AttributeDescription(name, type, default: value, userInfo: userInfo)
  }

  private static func said(
    _ relationship: RelationshipDescription, _ key: String, _ value: String
  ) -> RelationshipDescription {
    var relationship = relationship
    relationship.userInfo[key] = value
    return relationship
  }

  private static let model = ModelDescription(entities: [
    EntityDescription(
      "Single",
      attributes: [
        attribute("int16", .int16), attribute("int32", .int32), attribute("int64", .int64),
        attribute("decimal", .decimal), attribute("double", .double), attribute("float", .float),
        attribute("bool", .boolean), attribute("text", .string), attribute("uuid", .uuid), attribute("link", .uri),
        attribute("bytes", .binary), attribute("date", .date),
        attribute("day", .date, ["dateFormat": "dd.MM.yyyy"]), attribute("moment", .date, ["dateFormat": "UnixTime"]),
        attribute("withDefault", .int32, default: .integer(100)),
        attribute("mapped", .string, ["mappedKeyName": "mappedAttributeWithStringValue"]),
        attribute("nested", .string, ["mappedKeyName": "attributeValue.nestedValue"]),
        attribute(
          "several", .string, ["mappedKeyName": "one", "mappedKeyName.1": "two", "mappedKeyName.2": "three"]),
      ],
      relationships: [
        said(RelationshipDescription("mappedRelation", to: "Concrete"), "mappedKeyName", "someRandomAttributeName"),
        RelationshipDescription("abstractOne", to: "Abstract", inverse: nil),
        RelationshipDescription("abstractMany", toMany: "Abstract", inverse: "single"),
        RelationshipDescription("concreteMany", toMany: "Concrete", inverse: nil),
      ]),
    EntityDescription(
      "Abstract", isAbstract: true, attributes: [attribute("sample", .string)],
      relationships: [RelationshipDescription("single", to: "Single", inverse: "abstractMany")]),
    EntityDescription("Concrete", parent: "Abstract", attributes: [attribute("own", .string)]),
    EntityDescription(
      "Owner", userInfo: ["relatedByAttribute": "key"],
      attributes: [attribute("key", .int32, ["mappedKeyName": "id"]), attribute("name", .string)],
      relationships: [
        said(RelationshipDescription("parts", toMany: "Part", inverse: "owner"), "relatedByAttribute", "number")
      ]),
    EntityDescription(
      "Part", attributes: [attribute("number", .int32), attribute("name", .string)],
      relationships: [RelationshipDescription("owner", to: "Owner", inverse: "parts")]),
  ])

  @Test("The keys of a property in the data are determined once")
  func keys() throws {
    let entity = try ManagedObjectModel(Self.model).entity(named: "Single")
    let keys = ImportKeys()
    for (data, values) in [(["two": "b", "three": "c"], ["b", nil]), (["text": "d"], [nil, "d"])] {
      let fields = ImportValue.fields(data.mapValues { ImportValue.plain(.value(.string($0))) })
      for (name, value) in zip(["several", "text"], values) {
        let property = try #require(entity.property(named: name))
        let found = keys.value(of: property, in: fields)
        let text: String? = if case .plain(.value(.string(let text)))? = found { text } else { nil }
        #expect(text == value && (found == nil) == (value == nil))
      }
      #expect(keys.keys.values.sorted { $0.count < $1.count } == [["text"], ["one", "two", "three"]])
    }
  }

  private func withContext(_ body: (ManagedObjectContext) throws -> Void) throws {
    try withStack(Self.model) { try body($0.context()) }
  }

  @Test("Numbers, Boolean values and texts are imported with their types and without loss (IMP-01)")
  func types() throws {
    try withContext { context in
      let json = """
        {"int16": 256, "int32": 32, "int64": 10158365420975381, "decimal": 1.2, "double": 124.3, "float": 10000000000,
        "bool": false, "text": "a text", "uuid": "6F9619FF-8B86-D011-B42D-00C04FC964FF", "link": "https://swift.org",
        "bytes": "AQI="}
        """
      let object = try #require(context.importObjects("Single", fromJSON: Data(json.utf8)).first)
      try context.save()
      #expect(object["int16"] as? Int == 256 && object["int32"] as? Int == 32)
      #expect(object["int64"] as? Int == 10_158_365_420_975_381)
      #expect(object["decimal"] as? Decimal == Decimal(string: "1.2"))
      #expect(object["double"] as? Double == 124.3 && object["float"] as? Double == 10_000_000_000)
      #expect(object["bool"] as? Bool == false && object["text"] as? String == "a text")
      #expect(object["uuid"] as? UUID == UUID(uuidString: "6F9619FF-8B86-D011-B42D-00C04FC964FF"))
      #expect(object["link"] as? URL == URL(string: "https://swift.org"))
      #expect(object["bytes"] as? Data == Data([1, 2]))
    }
  }

  @Test("A number becomes a text, and texts become Boolean values and numbers (IMP-01)")
  func conversions() throws {
    try withContext { context in
      let object = try context.importObject(
        "Single", from: ["text": 10_248_909_829, "bool": "true", "int32": "17", "decimal": "3.10", "double": " 2.5 "])
      #expect(object["text"] as? String == "10248909829" && object["bool"] as? Bool == true)
      #expect(object["int32"] as? Int == 17 && object["double"] as? Double == 2.5)
      #expect(object["decimal"] as? Decimal == Decimal(string: "3.1"))
      for (text, expected) in [("YES", true), ("no", false), ("0", false), ("t", true)] {
        try object.importValues(from: ["bool": text])
        #expect(object["bool"] as? Bool == expected)
      }
    }
  }

  @Test("Dates are read in their format, in ISO 8601, and as seconds since 1970")
  func dates() throws {
    try withContext { context in
      let object = try context.importObject(
        "Single", from: ["day": "02.01.2001", "date": "2001-01-01T00:01:00Z", "moment": "978307201000"])
      #expect((object["day"] as? Date)?.timeIntervalSinceReferenceDate == 86400)
      #expect((object["date"] as? Date)?.timeIntervalSinceReferenceDate == 60)
      #expect((object["moment"] as? Date)?.timeIntervalSinceReferenceDate == 1)
      try object.importValues(from: ["moment": 978_307_203_500])
      #expect((object["moment"] as? Date)?.timeIntervalSinceReferenceDate == 3.5)
      try object.importValues(from: ["date": 978_307_202])
      #expect((object["date"] as? Date)?.timeIntervalSinceReferenceDate == 2)
    }
  }

  @Test("A value that can't be converted to the attribute's type is refused with the property's name")
  func refusals() throws {
    try withContext { context in
      let wrong: [[String: Any?]] = [
        ["int16": 70_000], ["int32": "many"], ["bool": "perhaps"], ["day": "2001-01-01"], ["text": ["a"]],
        ["uuid": "short"], ["date": Date.self],
      ]
      for data in wrong {
        let error = persistError { _ = try context.importObject("Single", from: data) }
        #expect(error?.code == .typeMismatch, "\(data.keys)")
      }
      let error = persistError { _ = try context.importObjects("Single", fromJSON: Data("{".utf8)) }
      #expect(error?.code == .malformedFile)
      #expect(persistError { _ = try context.importObject("Nothing", from: [:]) }?.code == .unknownEntity)
    }
  }

  @Test("Null clears a value, even one with a default; a missing key keeps the default (IMP-02)")
  func nulls() throws {
    try withContext { context in
      try #expect(context.importObject("Single", from: ["withDefault": nil])["withDefault"] == nil)
      try #expect(context.importObject("Single", from: ["withDefault": NSNull()])["withDefault"] == nil)
      try #expect(context.importObject("Single", from: [:])["withDefault"] as? Int == 100)
    }
  }

  @Test("Mapped names rename, reach into nested data, and the first name present is used (IMP-04)")
  func mappedNames() throws {
    try withContext { context in
      let object = try context.importObject(
        "Single",
        from: [
          "mappedAttributeWithStringValue": "mapped", "mapped": "not this", "attributeValue": ["nestedValue": "deep"],
          "two": "second", "three": "third", "someRandomAttributeName": ["sample": "related"],
        ])
      #expect(object["mapped"] as? String == "mapped" && object["nested"] as? String == "deep")
      #expect(object["several"] as? String == "second")
      #expect(object.one("mappedRelation")?["sample"] as? String == "related")
    }
  }

  @Test("A list without identifying attributes creates an object for each dictionary (IMP-05)")
  func lists() throws {
    try withContext { context in
      let made = try context.importObjects("Single", from: (0..<4).map { ["text": "\($0)"] })
      #expect(made.map { $0["text"] as? String } == ["0", "1", "2", "3"])
      try context.save()
      try #expect(context.count("Single") == 4)
    }
  }

  @Test("Nested data create related objects, of a subentity of an abstract destination (IMP-05)")
  func nested() throws {
    try withContext { context in
      let object = try context.importObject(
        "Single",
        from: [
          "abstractOne": ["sample": "one"], "abstractMany": [["sample": "a"], ["sample": "b"]],
          "concreteMany": [["sample": "x", "own": "1"], ["own": "2"], ["own": "3"]],
        ])
      #expect(object.one("abstractOne")?["sample"] as? String == "one")
      try #expect(object.names("abstractMany", by: "sample") == ["a", "b"])
      try #expect(object.names("concreteMany", by: "own") == ["1", "2", "3"])
      try #expect(object.many("concreteMany").contains { $0["sample"] as? String == "x" })
      try context.save()
    }
  }

  @Test("To-many: a missing key keeps the members, null removes them (IMP-07)")
  func emptying() throws {
    try withContext { context in
      let object = try context.importObject("Single", from: ["abstractMany": (0..<4).map { ["sample": "\($0)"] }])
      try object.importValues(from: [:])
      try #expect(object.many("abstractMany").count == 4)
      try object.importValues(from: ["abstractMany": nil])
      try #expect(object.many("abstractMany").count == 0)
    }
  }

  @Test("To-many by keys alone adds the existing objects, and creates none (IMP-08)")
  func byKeys() throws {
    try withContext { context in
      for number in 1...10 { try context.make("Part", ["number": number]) }
      let owner = try context.make("Owner", ["key": 1])
      try owner.many("parts").insert(try #require(try context.findFirst("Part", byAttribute: "number", with: 7)))
      try context.save()
      try context.importObject("Owner", from: ["id": 1, "parts": [1, 2, 3, 4]])
      try context.save()
      try #expect(owner.many("parts").count == 5)
      try #expect(ManagedObjectContext(context.persistentStoreCoordinator).count("Part") == 10)
    }
  }

  @Test("An object with a known identifying value is updated, in the store, in the context and within one list")
  func unique() throws {
    try withContext { context in
      try context.importObject("Owner", from: ["id": 1, "name": "first"])
      try context.save()
      let other = ManagedObjectContext(context.persistentStoreCoordinator)
      let made = try other.importObjects(
        "Owner",
        from: [["id": 1, "name": "second"], ["id": "2", "name": "two"], ["id": 2, "name": "zwei"], ["name": "?"]])
      #expect(made[1] === made[2] && made[0] !== made[1])
      try other.save()
      try #expect(ManagedObjectContext(context.persistentStoreCoordinator).names("Owner") == ["?", "second", "zwei"])
    }
  }

  @Test("A long list looks up its objects with one request")
  func oneRequest() throws {
    try withStack(Self.model) { stack in
      let list = (0..<500).map { (index: Int) -> [String: Any?] in ["id": index, "name": "n\(index)"] }
      let context = stack.context()
      try context.importObjects("Owner", from: list)
      try context.save()
      let again = stack.context()
      let before = stack.store.calls
      try again.importObjects("Owner", from: list)
      #expect(stack.store.calls - before == 1)
      #expect(again.insertedObjects.isEmpty)
    }
  }

  /// Staff that refer to each other by `id`, or by `email` for mentors.
  private static let staff = ModelDescription(entities: [
    EntityDescription(
      "Employee", userInfo: ["relatedByAttribute": "id"],
      attributes: [attribute("id", .int64), attribute("email", .string), attribute("name", .string)],
      relationships: [
        RelationshipDescription("manager", to: "Employee", inverse: "reports"),
        RelationshipDescription("reports", toMany: "Employee", inverse: "manager"),
        said(RelationshipDescription("mentor", to: "Employee"), "relatedByAttribute", "email"),
      ]),
    EntityDescription("Director", parent: "Employee", attributes: [attribute("region", .string)]),
  ])

  @Test(
    "An object that occurs nested, by key and in the list is one object",
    arguments: [
      #"[{"id": 1, "manager": {"id": 2}}, {"id": 2, "name": "Boss"}]"#,
      #"[{"id": 1, "manager": 2}, {"id": "2", "name": "Boss"}]"#,
      #"[{"id": 2, "reports": [{"id": 1, "manager": {"id": 2, "name": "Boss"}}, 1]}]"#,
      #"[{"id": 1, "manager": {"reports": [1], "name": "Boss", "id": 2}}, {"id": 1}]"#,
    ])
  func nestedAndListed(json: String) throws {
    try withStack(Self.staff) { stack in
      let context = stack.context()
      try context.importObjects("Employee", fromJSON: Data(json.utf8))
      let made = try context.fetch(FetchRequest("Employee", sortedBy: "id"))
      try #require(made.map { $0["id"] as? Int } == [1, 2])
      #expect(made[0].one("manager") === made[1] && made[1]["name"] as? String == "Boss")
      try context.save()
      let again = stack.context()
      try again.importObjects("Employee", fromJSON: Data(json.utf8))
      #expect(again.insertedObjects.isEmpty)
    }
  }

  @Test("An object that is identified by two attributes is one object, and one of a superentity isn't it")
  func twoIdentities() throws {
    try withStack(Self.staff) { stack in
      let context = stack.context()
      let made = try context.importObjects(
        "Employee", from: [["id": 1, "email": "a@example.org"], ["id": 2, "mentor": ["email": "a@example.org"]]])
      #expect(made[1].one("mentor") === made[0])
      let mentor: [String: Any?] = ["email": "a@example.org", "id": 4]
      let renamed = try context.importObjects("Employee", from: [["id": 3, "mentor": mentor], ["id": 1], ["id": 4]])
      #expect(renamed[2] === made[0] && renamed[1] !== made[0])
      let director = try context.importObjects("Director", from: [["id": 4, "region": "North"]])
      #expect(director[0] !== made[0])
      try #expect(context.importObjects("Director", from: [["id": 4]]) == director)
    }
  }

  @Test("Nested objects of a long list are looked up with one request for each identifying attribute")
  func nestedRequests() throws {
    try withStack(Self.model) { stack in
      let parts = (0..<300).map { (index: Int) -> [String: Any?] in
        ["number": index, "owner": ["id": index, "parts": [["number": index]]] as [String: Any?]]
      }
      let context = stack.context()
      let before = stack.store.calls
      try context.importObjects("Part", from: parts)
      #expect(stack.store.calls - before == 2)
      #expect(context.insertedObjects.count == 600)
    }
  }
}
