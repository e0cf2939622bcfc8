import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("A model as JSON")
struct ModelJSONTests {
  /// A description in which everything differs from its default.
  static let full = ModelDescription(
    entities: [
      EntityDescription(
        "Item", className: "Item", moduleName: "", isAbstract: true, parent: "Base", renamingIdentifier: "Thing",
        versionHashModifier: "m", userInfo: ["k": "v"],
        attributes: [
          AttributeDescription(
            "a", .string, isOptional: false, isTransient: true, default: .string(""), renamingIdentifier: "old",
            versionHashModifier: "2", userInfo: ["x": "\"\n"], valueClassName: "C", valueTransformerName: "T",
            allowsExternalStorage: true, preservesValueOnDeletion: true, derivation: "b.c", compositeName: "P",
            validation: AttributeValidation(
              minimum: .integer(1), maximum: .decimal(Decimal(string: "10.110") ?? 0), minimumLength: 0,
              maximumLength: 5, pattern: "[\"\\d]",
              rules: [.init(predicate: "SELF > 1", warning: "w"), .init(predicate: "p")]),
            usesScalarType: true, isIndexed: true, isIndexedBySpotlight: true, allowsCloudEncryption: true,
            unknown: ["u": "1"]),
        ],
        relationships: [
          RelationshipDescription(
            name: "r", destination: "Base", inverse: "i", minimumCount: 1, maximumCount: 5, isOptional: false,
            isTransient: true, isOrdered: true, deleteRule: .deny, renamingIdentifier: "q", versionHashModifier: "3",
            userInfo: ["a": "b"], isIndexedBySpotlight: true, unknown: ["u": "2"]),
        ],
        fetchedProperties: [
          FetchedPropertyDescription(
            "f",
            request: FetchRequestDescription(
              entity: "Item", predicate: "a == $FETCH_SOURCE.a",
              sort: [.init("a"), .init("b", isAscending: false, selector: "compare:")], fetchLimit: 3,
              fetchBatchSize: 4, includesSubentities: false, includesPropertyValues: false,
              includesPendingChanges: false, returnsObjectsAsFaults: false, returnsDistinctResults: true,
              resultType: .dictionaries, unknown: ["u": "3"]), isOptional: false, renamingIdentifier: "g",
            userInfo: ["c": "d"], unknown: ["u": "4"]),
        ], uniquenessConstraints: [["a", "b"], ["c"]],
        indexes: [
          FetchIndexDescription(
            "i",
            elements: [
              .init(.property("a"), kind: .rTree, isAscending: false), .init(.expression("length:(a)", .int16)),
            ], partialPredicate: "a != nil", unknown: ["u": "5"]),
        ], compoundIndexes: [["a"], ["b", "c"]], unknown: ["u": "6"]),
      EntityDescription(
        "Base",
        attributes: zip(0..., [
          (AttributeType.int64, StoredValue.integer(.max)), (.double, .double(0.1)), (.double, .double(-0.0)),
          (.double, .double(.infinity)),
          (.decimal, .decimal(Decimal(string: "12345678901234567890123456789.123456789") ?? 0)),
          (.boolean, .boolean(true)), (.date, .date(Date(timeIntervalSinceReferenceDate: 445_103_622.25))),
          (.binary, .data(Data([0, 255]))),
          (.uuid, .uuid(UUID(uuidString: "FFFECB21-6645-4FDD-B8B0-B960D0E61F5A") ?? UUID())),
          (.uri, .uri("no uri at all")), (.transformable, .data(Data())), (.int16, .string("of the wrong type")),
          (.composite, .composite(["x": .double(1), "y": .composite(["z": .null])])),
          (.objectID, .objectID(ManagedObjectID(entityName: "E", storeIdentifier: "S-1", key: .permanent(3)))),
          (.undefined, .integer(5)),
        ]).map { AttributeDescription("a\($0)", $1.0, default: $1.1) }),
    ],
    composites: [
      CompositeDescription(
        "P", elements: [AttributeDescription("x", .double)], userInfo: ["e": "f"], unknown: ["u": "7"]),
    ],
    configurations: ["Local": ["Item", "Base"], "Empty": []],
    fetchRequestTemplates: ["all": FetchRequestDescription(entity: "Item")], versionIdentifiers: ["1", "beta"],
    unknown: ["u": "8"])

  private func roundTrip(_ model: ModelDescription) throws -> ModelDescription {
    try ModelDescription(json: Data(model.json.utf8))
  }

  @Test("A model survives the round trip to JSON unchanged")
  func everything() throws {
    let back = try roundTrip(Self.full)
    #expect(back == Self.full)
    #expect(back.json == Self.full.json)
    // Equal as values, but of different types.
    #expect(back.entities[1].attributes[2].defaultValue.description == "-0.0")
    #expect(try roundTrip(ModelDescription()) == ModelDescription())
  }

  @Test("The text is readable, and contains only differences from the defaults")
  func text() {
    let model = ModelDescription(
      entities: [
        EntityDescription(
          "Item", attributes: [AttributeDescription("name", .string, isOptional: false, default: .string("New Item"))],
          relationships: [RelationshipDescription("parts", toMany: "Item", inverse: nil, deleteRule: .cascade)]),
      ], versionIdentifiers: ["1"])
    #expect(
      model.json == """
        {
          "entities" : [
            {
              "attributes" : [
                {
                  "default" : "New Item",
                  "name" : "name",
                  "optional" : false,
                  "type" : "string"
                }
              ],
              "name" : "Item",
              "relationships" : [
                {
                  "deleteRule" : "cascade",
                  "destination" : "Item",
                  "name" : "parts"
                }
              ]
            }
          ],
          "format" : 1,
          "versionIdentifiers" : [
            "1"
          ]
        }

        """)
  }

  @Test("Unknown contents are refused with their key path", arguments: [
    (#"{"entities": []}"#, "format"), (#"{"format": 2}"#, "format"), (#"{"format": "1"}"#, "format"),
    (#"{"format": 1, "colour": 1}"#, "colour"),
    (#"{"format": 1, "entities": [{"name": "E"}, {"nam": "E"}]}"#, "entities[1].name"),
    (#"{"format": 1, "entities": [{"name": "E", "x": 1}]}"#, "entities[0].x"),
    (#"{"format": 1, "entities": [{"name": "E", "attributes": [{"name": "a", "type": "integer"}]}]}"#,
      "entities[0].attributes[0].type"),
    (#"{"format": 1, "entities": [{"name": "E", "attributes": [{"name": "a", "type": "int16", "default": "5"}]}]}"#,
      "entities[0].attributes[0].default"),
    (#"{"format": 1, "fetchRequests": {"all": {"entity": "E", "limit": "5"}}}"#, "fetchRequests.all.limit"),
    (#"{"format": 1, "entities": [{"name": "E", "uniquenessConstraints": ["a"]}]}"#,
      "entities[0].uniquenessConstraints[0]"),
    ("[]", ""),
  ])
  func refused(text: String, key: String) throws {
    let url = URL(fileURLWithPath: "/m.json")
    let error = try #require(throws: PersistenceError.self) { try ModelDescription(json: Data(text.utf8), from: url) }
    #expect(error.code == .malformedFile)
    #expect(error.place.key == key)
    #expect(error.place.file == url)
  }

  @Test("Every real model is read back unchanged", .needsSharedData)
  func realModels() throws {
    for url in SharedData.modelContents {
      let model = try XMLModelReader.model(at: url).description
      #expect(try roundTrip(model) == model)
    }
  }
}
