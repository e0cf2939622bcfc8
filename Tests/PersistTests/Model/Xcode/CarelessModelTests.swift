import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

/// Files as written by Xcode, which checks little.
@Suite("Carelessly written models")
struct CarelessModelTests {
  private func model(_ body: String) throws -> ManagedObjectModel {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("M.xcdatamodel")
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      try Data("<?xml version=\"1.0\"?>\n<model>\n\(body)\n</model>".utf8)
        .write(to: url.appendingPathComponent("contents"))
      return try ModelRegistry(contentsOf: url).current
    }
  }

  @Test(
    "YES and NO are 1 and 0 as defaults of numbers, and numbers are Boolean values as defaults of Booleans",
    arguments: [
      ("Integer 16", "NO", StoredValue.integer(0)), ("Integer 32", "YES", .integer(1)), ("Integer 64", "no", .integer(0)),
      ("Double", "YES", .double(1)), ("Float", "NO", .double(0)), ("Decimal", "YES", .decimal(1)),
      ("Boolean", "0.0", .boolean(false)), ("Boolean", "2", .boolean(true)),
    ])
  func truths(type: String, text: String, value: StoredValue) throws {
    let model = try model(
      """
      <entity name="E"><attribute name="a" attributeType="\(type)" defaultValueString="\(text)"/></entity>
      """)
    #expect(model.entities[0].attribute(named: "a")?.defaultValue == value)
    #expect(model.flaws.isEmpty)
  }

  @Test("An unreadable default is a warning with its line, and the attribute has none", arguments: [
    "attributeType=\"Integer 16\" defaultValueString=\"70000\"", "attributeType=\"Decimal\" defaultValueString=\"a lot\"",
    "attributeType=\"Integer 32\" defaultValueString=\"kDefault\"", "attributeType=\"Boolean\" defaultValueString=\"maybe\"",
    "attributeType=\"UUID\" defaultValueString=\"none\"", "attributeType=\"Date\" defaultDateTimeInterval=\"now\"",
  ])
  func unreadableDefaults(_ attribute: String) throws {
    let model = try model("<entity name=\"E\">\n<attribute name=\"a\" \(attribute)/></entity>")
    #expect(model.entities[0].attribute(named: "a")?.defaultValue == .null)
    #expect(model.flaws.map(\.place.line) == [4])
    #expect(model.flaws.allSatisfy { $0.fix != nil && $0.place.file != nil })
  }

  @Test("A model without parts that stores don't need is read, and each omission is a warning")
  func omissions() throws {
    let model = try model(
      """
      <entity name="E">
        <attribute name="a" attributeType="Integer 32" optional="perhaps" minValueString="few" usesScalarValueType="?"/>
        <attribute name="s" optional="YES" attributeType="String" maxValueString="-3" derived="YES"/>
        <relationship name="r" optional="YES" toMany="YES" minCount="x" maxCount="-1" destinationEntity="E"/>
        <fetchedProperty name="nothing"/>
        <fetchIndex name="empty"><fetchIndexElement type="Binary"/></fetchIndex>
        <fetchIndex name="byA"><fetchIndexElement property="a" type="Ternary" order="sideways"/></fetchIndex>
        <compoundIndexes><compoundIndex/></compoundIndexes>
        <userInfo><entry value="v"/><entry key="k" value="v"/></userInfo>
      </entity>
      <fetchRequest entity="E"/>
      <fetchRequest name="all" entity="E" fetchLimit="many" resultType="9"/>
      <configuration name="C"><memberEntity name="E"/></configuration>
      <configuration name="C"/>
      """)
    let entity = model.entities[0]
    #expect(entity.attribute(named: "a")?.isOptional == false)
    #expect(entity.attribute(named: "s")?.isDerived == false)
    #expect(entity.relationship(named: "r")?.maximumCount == 0 && entity.relationship(named: "r")?.isToMany == true)
    #expect(entity.description.indexes.map(\.name) == ["byA"])
    #expect(entity.description.userInfo == ["k": "v"])
    #expect(entity.description.fetchedProperties.isEmpty)
    let request = try #require(model.description.fetchRequestTemplates["all"])
    #expect(request.fetchLimit == 0 && request.resultType == .objects)
    #expect(request.unknown == ["fetchLimit": "many", "resultType": "9"])
    #expect(model.description.configurations == ["C": ["E"]])
    #expect(model.flaws.count == 16, "\(model.flaws)")
  }

  @Test("A count of -1 in an archived model means no limit")
  func archivedCounts() throws {
    let archive = ArchiveBuilder()
    let relationship = archive.object(
      "NSRelationshipDescription",
      [
        "NSPropertyName": archive.text("parts"), "NSIsOptional": .boolean(true), "NSMinCount": .integer(0),
        "NSMaxCount": .integer(-1), "NSDeleteRule": .integer(1), "_NSDestinationEntityName": archive.text("E"),
      ], parents: ["NSPropertyDescription"])
    let model = try ManagedObjectModel(archive.model(["E": archive.entity("E", ["parts": relationship])]))
    let read = try #require(model.entities[0].relationship(named: "parts"))
    #expect(read.maximumCount == 0 && read.isToMany)
  }

  @Test("An archived default of another type, odd user info and odd sort orders don't prevent reading the model")
  func archivedOddities() throws {
    let archive = ArchiveBuilder()
    let odd = archive.object("ABCColor")
    let attribute = archive.attribute(
      "colour", 1800, ["NSDefaultValue": odd, "NSUserInfo": archive.list([archive.text("k")])])
    let request = archive.object(
      "NSFetchRequest",
      ["NSEntityName": archive.text("E"), "NSSortDescriptors": archive.list([archive.object("NSSortDescriptor")])])
    let entity = archive.entity("E", ["colour": attribute])
    let root = archive.object(
      "NSManagedObjectModel",
      [
        "NSEntities": archive.dictionary(["E": entity]),
        "NSFetchRequestTemplates": archive.dictionary(["all": request]),
      ])
    let model = try ManagedObjectModel(XcodeModelArchive.model(fromArchive: archive.data(root: root)))
    #expect(model.entities[0].attribute(named: "colour")?.defaultValue == .null)
    #expect(model.description.fetchRequestTemplates["all"]?.sort == [])
    #expect(model.flaws.count == 2)
    #expect(model.flaws.contains { $0.place == .property("E", "colour") && $0.message.contains("ABCColor") })
  }
}
