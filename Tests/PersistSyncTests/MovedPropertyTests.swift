import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

/// Values that were recorded for an object while it had another entity than it has in the receiver's model.
@Suite("Synchronization: values that were recorded for another entity")
struct MovedPropertyTests {
  /// A property in two versions, each with the entity of the object for which it is set and that of a second device,
  /// whose object is the same one by its identifier.
  struct Move: Sendable, CustomTestStringConvertible {
    let name: String
    /// The versions; those in between are known and aren't used.
    let versions: [[EntityDescription]]
    /// The entity in the first version for whose object the value is set.
    let setter: String
    /// The entity in the first version that the other device's object has, created before. It is that of the object
    /// once both are known: of two entities, the one with the later name.
    let creator: String
    /// The names in the newest version.
    let entity: String
    var property = "when"

    var testDescription: String { name }
  }

  private static func entity(
    _ name: String, in parent: String? = nil, from former: String? = nil, _ attributes: [AttributeDescription] = [],
    _ relationships: [RelationshipDescription] = []
  ) -> EntityDescription {
    let id: [AttributeDescription] = parent == nil ? [.init("id", .int64)] : []
    return EntityDescription(
      name, parent: parent, renamingIdentifier: former, attributes: id + attributes, relationships: relationships)
  }

  private static let when = AttributeDescription("when", .string)
  private static let then = AttributeDescription("then", .string, renamingIdentifier: "when")

  static let moves = [
    Move(
      name: "moved down",
      versions: [
        [entity("Item", [when]), entity("Part", in: "Item")], [entity("Item"), entity("Part", in: "Item", [when])],
      ],
      setter: "Item", creator: "Part", entity: "Part"),
    Move(
      name: "moved down and renamed, with its entities",
      versions: [
        [entity("Item", [when]), entity("Part", in: "Item")],
        [entity("Thing", from: "Item"), entity("Piece", in: "Thing", from: "Part", [then])],
      ], setter: "Item", creator: "Part", entity: "Piece", property: "then"),
    Move(
      name: "moved down to several entities",
      versions: [
        [entity("Item", [when]), entity("Part", in: "Item"), entity("Tool", in: "Item")],
        [entity("Item"), entity("Part", in: "Item", [when]), entity("Tool", in: "Item", [when])],
      ], setter: "Part", creator: "Tool", entity: "Tool"),
    Move(
      name: "moved down by two levels, set in the middle",
      versions: [
        [entity("Item", [when]), entity("Part", in: "Item"), entity("Stud", in: "Part")],
        [entity("Item"), entity("Part", in: "Item"), entity("Stud", in: "Part", [when])],
      ], setter: "Part", creator: "Stud", entity: "Stud"),
    Move(
      name: "moved up",
      versions: [
        [entity("Unit"), entity("Part", in: "Unit", [when])], [entity("Unit", [when]), entity("Part", in: "Unit")],
      ],
      setter: "Part", creator: "Unit", entity: "Unit"),
    Move(
      name: "moved up, with its entity removed afterwards",
      versions: [
        [entity("Unit"), entity("Part", in: "Unit", [when])], [entity("Unit", [when]), entity("Part", in: "Unit")],
        [entity("Unit", [when])],
      ], setter: "Part", creator: "Unit", entity: "Unit"),
    Move(
      name: "inherited by an entity that was removed",
      versions: [[entity("Unit", [when]), entity("Part", in: "Unit")], [entity("Unit", [then])]],
      setter: "Part", creator: "Unit", entity: "Unit", property: "then"),
    Move(
      name: "moved down after a rename",
      versions: [
        [entity("Item", [when]), entity("Part", in: "Item")], [entity("Item", [then]), entity("Part", in: "Item")],
        [entity("Item"), entity("Part", in: "Item", [AttributeDescription("then", .string)])],
      ], setter: "Item", creator: "Part", entity: "Part", property: "then"),
  ]

  private static func models(_ versions: [[EntityDescription]]) throws -> ModelRegistry {
    ModelRegistry(
      versions: try versions.enumerated().map { place, entities in
        let description = ModelDescription(
          entities: entities,
          composites: [CompositeDescription("Size", elements: [AttributeDescription("width", .int32)])],
          versionIdentifiers: ["\(place)"])
        return ModelVersion(name: "\(place)", model: try ManagedObjectModel(description))
      })
  }

  private static func root(_ model: ManagedObjectModel) -> String {
    model.entities.first { $0.superentity == nil && $0.property(named: "id") != nil }?.name ?? ""
  }

  /// Creates an object on two devices of the first version and updates both to the newest.
  ///
  /// - Parameters:
  ///   - set: Sets a value of the first device's object.
  ///   - check: Gets the object of each device in the newest version.
  private func exchange(
    _ versions: [[EntityDescription]], setter: String, creator: String, in entity: String,
    set: (ManagedObject, ManagedObjectContext) throws -> Void, check: (ManagedObject) throws -> Void
  ) async throws {
    let registry = try Self.models(versions)
    let (first, newest) = (registry.versions[0].model, registry.versions[versions.count - 1].model)
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try (0..<2).map {
        try Device(
          folder.appendingPathComponent("\($0).sqlite"), first, identifiedBy: [Self.root(first): "id"],
          registry: ModelRegistry(versions: [registry.versions[0]]))
      }
      // The value is set last: an object has the default values of its creation, too.
      for (device, entity) in zip(devices, [setter, creator]).reversed() {
        let context = ManagedObjectContext(device.coordinator)
        let object = try context.create(entity)
        object["id"] = 7
        if device === devices[0] { try set(object, context) }
        try context.save()
        _ = try device.replica.work.capture()
      }
      for device in devices { try device.update(to: newest, registry, identifiedBy: [Self.root(newest): "id"]) }
      for device in devices + devices { try await device.replica.synchronize(with: hub) }
      for device in devices {
        let context = ManagedObjectContext(device.coordinator)
        let objects = try context.fetch(FetchRequest<ManagedObject>(Self.root(newest)))
        #expect(objects.map(\.entity.name) == [entity])
        for object in objects { try check(object) }
        #expect(try device.outdatedRows().isEmpty)
      }
    }
  }

  @Test("A value reaches its object when the property is", arguments: Self.moves)
  func values(_ move: Move) async throws {
    try await exchange(move.versions, setter: move.setter, creator: move.creator, in: move.entity) { object, _ in
      object["when"] = "noon"
    } check: { (object) throws in
      #expect(object[move.property] as? String == "noon")
    }
  }

  @Test("References, members of both kinds of relationships, and parts of composites follow a move to a subentity")
  func relationships() async throws {
    func model(_ isMoved: Bool) -> [EntityDescription] {
      let relationships: [RelationshipDescription] = [
        .init("box", to: "Box", inverse: "items"), .init("tags", toMany: "Tag", inverse: "items"),
        .init("marks", toMany: "Mark"),
      ]
      let attributes: [AttributeDescription] = [.init("size", .composite, compositeName: "Size")]
      let owner = isMoved ? "Part" : "Item"
      return [
        Self.entity("Item", isMoved ? [] : attributes, isMoved ? [] : relationships),
        Self.entity("Part", in: "Item", isMoved ? attributes : [], isMoved ? relationships : []),
        EntityDescription(
          "Box", attributes: [.init("name", .string)],
          relationships: [.init("items", toMany: owner, inverse: "box")]),
        EntityDescription(
          "Tag", attributes: [.init("name", .string)],
          relationships: [.init("items", toMany: owner, inverse: "tags")]),
        EntityDescription("Mark", attributes: [.init("name", .string)]),
      ]
    }
    try await exchange([model(false), model(true)], setter: "Item", creator: "Part", in: "Part") { object, context in
      let related = try ["Box", "Tag", "Mark"].map { try context.create($0) }
      object["box"] = related[0]
      try object.many("tags").insert(related[1])
      try object.many("marks").insert(related[2])
      object["size"] = ["width": 3]
    } check: { (object) throws in
      #expect(object["box"] as? ManagedObject != nil)
      #expect(try object.many("tags").count == 1)
      #expect(try object.many("marks").count == 1)
      #expect((object["size"] as? [String: Any])?["width"] as? Int == 3)
    }
  }

  @Test("Members that an owner got as an object of a removed entity stay its members")
  func removedOwner() async throws {
    let relationships: [RelationshipDescription] = [.init("marks", toMany: "Mark")]
    let mark = EntityDescription("Mark", attributes: [.init("name", .string)])
    let versions = [
      [Self.entity("Unit", [], relationships), Self.entity("Part", in: "Unit"), mark],
      [Self.entity("Unit", [], relationships), mark],
    ]
    try await exchange(versions, setter: "Part", creator: "Unit", in: "Unit") { object, context in
      try object.many("marks").insert(context.create("Mark"))
    } check: { (object) throws in
      #expect(try object.many("marks").count == 1)
    }
  }
}
