import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Reading an .xcdatamodel")
struct XMLModelReaderTests {
  private let file = URL(fileURLWithPath: "/Shop.xcdatamodel/contents")

  private func model(_ body: String, header: String = "") throws -> ModelDescription {
    let text = "<?xml version=\"1.0\"?>\n<model \(header)>\n\(body)\n</model>"
    return try XMLModelReader.model(from: MarkupReader.root(in: Data(text.utf8), from: file), file: file).description
  }

  private func entity(_ body: String, header: String = "name=\"E\"") throws -> EntityDescription {
    try #require(model("<entity \(header)>\(body)</entity>").entities.first)
  }

  private func attribute(_ header: String, _ body: String = "") throws -> AttributeDescription {
    try #require(entity("<attribute name=\"a\" \(header)>\(body)</attribute>").attributes.first)
  }

  @Test("All settings of an entity are read")
  func entities() throws {
    let entity = try entity(
      """
      <userInfo><entry key="k" value="v"/><entry key="empty"/></userInfo>
      <uniquenessConstraints>
        <uniquenessConstraint><constraint value="x"/><constraint value="y"/></uniquenessConstraint>
      </uniquenessConstraints>
      <compoundIndexes><compoundIndex><index value="x"/></compoundIndex></compoundIndexes>
      <fetchIndex name="byX" partialIndexPredicate="x &gt; 1">
        <fetchIndexElement property="x" type="Binary" order="descending"/>
        <fetchIndexElement property="y" type="R-Tree" order="ascending"/>
        <fetchIndexElement expression="length:(x)" expressionType="Integer 16" type="Binary" order="ascending"/>
      </fetchIndex>
      <wonder of="nature"/>
      """,
      header: """
        name="E" representedClassName=".Thing" parentEntity="P" isAbstract="YES" elementID="Old" syncable="YES"
        versionHashModifier="7" codeGenerationType="class"
        """)
    #expect(
      entity
        == EntityDescription(
          "E", className: "Thing", moduleName: "", isAbstract: true, parent: "P", renamingIdentifier: "Old",
          versionHashModifier: "7", userInfo: ["k": "v", "empty": ""], uniquenessConstraints: [["x", "y"]],
          indexes: [
            FetchIndexDescription(
              "byX",
              elements: [
                .init(.property("x"), isAscending: false), .init(.property("y"), kind: .rTree),
                .init(.expression("length:(x)", .int16)),
              ], partialPredicate: "x > 1")
          ], compoundIndexes: [["x"]],
          unknown: ["syncable": "YES", "codeGenerationType": "class", "<wonder>": "<wonder of=\"nature\"/>"]))
  }

  @Test("An attribute without 'optional' is required")
  func requiredByDefault() throws {
    #expect(try !attribute("attributeType=\"String\"").isOptional)
    #expect(try attribute("attributeType=\"String\" optional=\"YES\"").isOptional)
  }

  @Test(
    "Defaults are read by type",
    arguments: [
      ("Integer 16", "-5", StoredValue.integer(-5)), ("Integer 64", "9223372036854775807", .integer(.max)),
      ("Integer 32", "0.0", .integer(0)), ("Double", "0.1", .double(0.1)), ("Float", "1e3", .double(1000)),
      ("Decimal", "10.11", .decimal(Decimal(string: "10.11") ?? 0)), ("Boolean", "YES", .boolean(true)),
      ("Boolean", "NO", .boolean(false)), ("String", "", .string("")), ("String", " a ", .string(" a ")),
      ("UUID", "FFFECB21-6645-4FDD-B8B0-B960D0E61F5A", .uuid(
        UUID(uuidString: "FFFECB21-6645-4FDD-B8B0-B960D0E61F5A") ?? UUID())),
      ("URI", "http://x/ y", .uri("http://x/ y")), ("Integer 16", "", .null),
    ])
  func defaults(type: String, text: String, value: StoredValue) throws {
    #expect(try attribute("attributeType=\"\(type)\" defaultValueString=\"\(text)\"").defaultValue == value)
  }

  @Test("A date's default and limits are seconds since 2001")
  func dates() throws {
    let attribute = try attribute(
      """
      attributeType="Date" defaultDateTimeInterval="784758480" minDateTimeInterval="0" maxDateTimeInterval="1e9"
      """)
    #expect(attribute.defaultValue == .date(Date(timeIntervalSinceReferenceDate: 784_758_480)))
    #expect(attribute.validation.minimum == .date(Date(timeIntervalSinceReferenceDate: 0)))
    #expect(attribute.validation.maximum == .date(Date(timeIntervalSinceReferenceDate: 1_000_000_000)))
  }

  @Test("All settings of an attribute are read")
  func attributes() throws {
    #expect(
      try attribute(
        """
        optional="YES" transient="YES" attributeType="Transformable" elementID="b" versionHashModifier="2"
        customClassName="Color" valueTransformerName="ColorTransformer" allowsExternalBinaryDataStorage="YES"
        preserveAfterDeletion="YES" usesScalarValueType="NO" indexed="YES" spotlightIndexingEnabled="YES"
        allowsCloudEncryption="YES" ephemeral="YES" syncable="YES"
        """, "<userInfo><entry key=\"k\" value=\"v\"/></userInfo>")
        == AttributeDescription(
          "a", .transformable, isTransient: true, renamingIdentifier: "b", versionHashModifier: "2",
          userInfo: ["k": "v"], valueClassName: "Color", valueTransformerName: "ColorTransformer",
          allowsExternalStorage: true, preservesValueOnDeletion: true, isIndexed: true, isIndexedBySpotlight: true,
          allowsCloudEncryption: true, unknown: ["ephemeral": "YES", "syncable": "YES"]))
  }

  @Test("Validation is length and pattern for texts, limits for numbers")
  func validation() throws {
    let text = try attribute(
      "attributeType=\"String\" minValueString=\"2\" maxValueString=\"9\" regularExpressionString=\"[a-z]*\"")
    #expect(text.validation == AttributeValidation(minimumLength: 2, maximumLength: 9, pattern: "[a-z]*"))
    let number = try attribute("attributeType=\"Integer 16\" minValueString=\"-1\" maxValueString=\"99999\"")
    #expect(number.validation == AttributeValidation(minimum: .integer(-1), maximum: .integer(99_999)))
  }

  @Test("A derived attribute keeps its expression; one that is no longer derived doesn't")
  func derived() throws {
    let derived = try attribute("attributeType=\"Integer 64\" derived=\"YES\" derivationExpression=\"articles.@count\"")
    #expect(derived.derivation == "articles.@count")
    let former = try attribute("attributeType=\"Integer 64\" derived=\"NO\" derivationExpression=\"articles.@count\"")
    #expect(!former.isDerived)
  }

  @Test("Relationships have counts, order and rules")
  func relationships() throws {
    let entity = try entity(
      """
      <relationship name="one" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="D"
        inverseName="back" inverseEntity="D"/>
      <relationship name="many" toMany="YES" minCount="1" maxCount="10000" ordered="YES" deletionRule="Cascade"
        destinationEntity="D" transient="YES" elementID="old"/>
      <relationship name="any" optional="YES" toMany="YES" deletionRule="No Action" destinationEntity="D"/>
      """)
    #expect(
      entity.relationships == [
        RelationshipDescription("one", to: "D", inverse: "back"),
        RelationshipDescription(
          name: "many", destination: "D", inverse: nil, minimumCount: 1, maximumCount: 10_000, isOptional: false,
          isTransient: true, isOrdered: true, deleteRule: .cascade, renamingIdentifier: "old"),
        RelationshipDescription("any", toMany: "D", inverse: nil, deleteRule: .noAction),
      ])
  }

  @Test("Fetched properties, request templates, configurations, composites and identifiers are read")
  func rest() throws {
    let model = try model(
      """
      <entity name="E">
        <composite name="place" optional="YES" compositeName="Place"/>
        <fetchedProperty name="best" optional="YES">
          <fetchRequest name="fetchedPropertyFetchRequest" entity="E" predicateString="x &gt; $FETCH_SOURCE.x"/>
          <userInfo><entry key="search" value="great"/></userInfo>
        </fetchedProperty>
      </entity>
      <composite name="Place"><attribute name="x" attributeType="Double"/></composite>
      <fetchRequest name="all" entity="E" fetchLimit="5" resultType="1" includeSubentities="NO"/>
      <configuration name="Local" usedWithCloudKit="YES"><memberEntity name="E"/></configuration>
      <elements><element name="E" positionX="0" positionY="0" width="1" height="1"/></elements>
      """, header: "userDefinedModelVersionIdentifier=\"2\" sourceLanguage=\"Swift\"")
    #expect(model.versionIdentifiers == ["2"])
    #expect(model.configurations == ["Local": ["E"]])
    #expect(model.unknown == ["sourceLanguage": "Swift", "configuration Local: usedWithCloudKit": "YES"])
    #expect(model.composites.map(\.elements) == [[AttributeDescription("x", .double, isOptional: false)]])
    #expect(model.entities.first?.attributes == [AttributeDescription("place", .composite, compositeName: "Place")])
    #expect(
      model.entities.first?.fetchedProperties == [
        FetchedPropertyDescription(
          "best", request: FetchRequestDescription(entity: "E", predicate: "x > $FETCH_SOURCE.x"),
          userInfo: ["search": "great"])
      ])
    #expect(
      model.fetchRequestTemplates == [
        "all": FetchRequestDescription(
          entity: "E", fetchLimit: 5, includesSubentities: false, resultType: .objectIDs)
      ])
    #expect(try ManagedObjectModel(model).entities.count == 1)
  }

  @Test("A composite attribute finds its type, whatever name the file uses for the reference")
  func composites() throws {
    for attribute in [
      "<attribute name=\"place\" attributeType=\"Composite\" elementComposite=\"Place\" syncable=\"YES\"/>",
      "<compositeAttribute name=\"place\" compositeType=\"Place\" syncable=\"YES\"/>",
    ] {
      let model = try model(
        """
        <entity name="E">\(attribute)</entity>
        <composite name="Place"><attribute name="x" attributeType="Double"/></composite>
        """)
      #expect(
        model.entities.first?.attributes == [
          AttributeDescription(
            "place", .composite, isOptional: false, compositeName: "Place", unknown: ["syncable": "YES"])
        ])
    }
  }

  @Test("All problems of a file are reported at once, with their lines")
  func problems() throws {
    let error = #expect(throws: PersistenceError.self) {
      try model(
        """
        <entity name="E">
          <attribute name="a" attributeType="Integer 17"/>
          <attribute attributeType="String"/>
          <attribute name="b" attributeType="Integer 16" transient="perhaps"/>
          <uniquenessConstraints><uniquenessConstraint/></uniquenessConstraints>
          <relationship name="r" destinationEntity="E" deletionRule="Explode"/>
        </entity>
        """)
    }
    #expect(error?.code == .malformedFile)
    #expect(error?.errors.map(\.place.line) == [4, 5, 6, 7, 8])
    #expect(error?.errors.allSatisfy { $0.place.file == file } == true)
  }

  @Test("Another root element and a folder without contents are refused")
  func wrongFiles() throws {
    let root = try MarkupReader.root(in: Data("<database/>".utf8), from: file)
    #expect(throws: PersistenceError.self) { try XMLModelReader.model(from: root, file: file) }
    try withTemporaryFolder { folder in
      #expect(throws: PersistenceError.self) { try XMLModelReader.model(at: folder) }
      try Data().write(to: folder.appendingPathComponent("elements"))
      let old = #expect(throws: PersistenceError.self) { try XMLModelReader.model(at: folder) }
      #expect(old?.message.contains("binary form") == true)
    }
  }

  @Test("Every real model is read, passes the checks and makes a model", .needsSharedData)
  func realModels() throws {
    #expect(SharedData.modelContents.count >= 83)
    for url in SharedData.modelContents {
      let description = try XMLModelReader.model(at: url).description
      #expect(!description.entities.isEmpty)
      _ = try ManagedObjectModel(description)
      // The rest is what has no function here, and nothing else.
      let known: Set<String> = ["syncable", "codeGenerationType"]
      for entity in description.entities {
        let left =
          Set(entity.unknown.keys).union(entity.attributes.flatMap(\.unknown.keys))
          .union(entity.relationships.flatMap(\.unknown.keys))
        #expect(left.isSubset(of: known), "\(url.path): \(left)")
      }
    }
  }

  @Test("The sample model's versions are read")
  func sample() throws {
    let folder = PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld")
    for name in ["Shop", "Shop 2", "Shop 3"] {
      _ = try ManagedObjectModel(XMLModelReader.model(at: folder.appendingPathComponent("\(name).xcdatamodel")))
    }
  }
}
