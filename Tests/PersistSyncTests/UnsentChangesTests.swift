import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

/// Versions of a model, and devices whose programs know those up to their own.
struct VersionList {
  let registry: ModelRegistry
  var mappings: [MappingModel] = []

  init(_ versions: [[EntityDescription]]) throws {
    registry = ModelRegistry(
      versions: try versions.enumerated().map { place, entities in
        ModelVersion(
          name: "\(place + 1)",
          model: try ManagedObjectModel(
            ModelDescription(
              entities: entities,
              composites: [CompositeDescription("Size", elements: [.init("width", .int32), .init("height", .int32)])],
              versionIdentifiers: ["\(place + 1)"])))
      })
  }

  func model(_ version: Int) -> ManagedObjectModel { registry.versions[version - 1].model }
  func registry(to version: Int) -> ModelRegistry { ModelRegistry(versions: Array(registry.versions[..<version])) }

  func device(
    _ folder: URL, _ name: String, _ version: Int = 1, identifiedBy keys: [String: String] = [:],
    sources: SyncSources? = nil
  ) throws -> Device {
    try Device(
      folder.appendingPathComponent("\(name).sqlite"), model(version), identifiedBy: keys,
      registry: registry(to: version), mappingModels: Array(mappings.prefix(version - 1)), sources: sources)
  }

  func update(_ device: Device, to version: Int) throws {
    guard device.model !== model(version) else { return }
    try device.update(to: model(version), registry(to: version))
  }
}

extension Device {
  /// Changes objects in a transaction.
  func change(_ body: (ManagedObjectContext) throws -> Void) throws {
    let context = ManagedObjectContext(coordinator)
    try body(context)
    try context.save()
  }

  /// Changes the only object of an entity, or the first one by an attribute.
  func set(_ entity: String, _ values: [String: (any Sendable)?]) throws {
    try change { context in
      let object = try #require(context.fetch(FetchRequest<ManagedObject>(entity)).first)
      for (name, value) in values { try object.setValue(value, forKey: name) }
    }
  }

  func value(_ entity: String, _ name: String) throws -> String {
    try ManagedObjectContext(coordinator).fetch(FetchRequest<ManagedObject>(entity))
      .map { $0[name].map { "\($0)" } ?? "nil" }.joined(separator: ", ")
  }
}

/// Changes that a device makes with one version of the model, and sends once its program has another one.
@Suite("Synchronization: changes that weren't sent before an update")
struct UnsentChangesTests {
  private func synchronize(_ devices: [Device], _ hub: FolderHub) async throws {
    for device in devices + devices {
      let report = try await device.replica.synchronize(with: hub)
      #expect(report.refused.isEmpty && report.waiting.isEmpty)
    }
    for device in devices { #expect(try device.outdatedRows().isEmpty) }
  }

  /// A change of the model `Note(title, rank, body)`.
  struct Update: Sendable, CustomTestStringConvertible {
    let name: String
    let entities: [EntityDescription]
    var entity = "Note"
    var title = "title"

    var testDescription: String { name }

    init(_ name: String, _ entities: [EntityDescription], entity: String = "Note", title: String = "title") {
      (self.name, self.entities, self.entity, self.title) = (name, entities, entity, title)
    }
  }

  private static func note(
    _ attributes: [AttributeDescription], in parent: String? = nil, as name: String = "Note", from former: String? = nil
  ) -> EntityDescription {
    EntityDescription(name, parent: parent, renamingIdentifier: former, attributes: attributes)
  }

  private static let first = note([.init("title", .string), .init("rank", .int32), .init("body", .string)])

  static let updates = [
    Update("adds an attribute", [note(first.attributes + [.init("extra", .string)])]),
    Update("removes an attribute", [note([.init("title", .string), .init("rank", .int32)])]),
    Update(
      "renames an attribute",
      [
        note([
          .init("name", .string, renamingIdentifier: "title"), .init("rank", .int32), .init("body", .string),
        ])
      ], title: "name"),
    Update(
      "changes types", [note([.init("title", .uri), .init("rank", .int64), .init("body", .string)])]),
    Update(
      "renames the entity, and adds an attribute",
      [note(first.attributes + [.init("extra", .string)], as: "Memo", from: "Note")], entity: "Memo"),
    Update(
      "moves an attribute to a superentity",
      [note([.init("title", .string)], as: "Item"), note(Array(first.attributes.dropFirst()), in: "Item")]),
    Update(
      "adds a relationship",
      [
        EntityDescription(
          "Note", attributes: first.attributes, relationships: [.init("tags", toMany: "Tag", inverse: "notes")]),
        EntityDescription("Tag", relationships: [.init("notes", toMany: "Note", inverse: "tags")]),
      ]),
  ]

  @Test(
    "Each property has the value that was set last, whatever was changed afterward, when the update",
    arguments: updates, [false, true])
  func times(_ update: Update, isLast: Bool) async throws {
    let versions = try VersionList([[Self.first], update.entities])
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try ["a", "b"].map { try versions.device(folder, $0) }
      try devices[0].change { try $0.create("Note")["title"] = "new" }
      try await synchronize(devices, hub)
      if isLast { try devices[1].set("Note", ["title": "other"]) }
      try devices[0].set("Note", ["title": "own"])
      if !isLast { try devices[1].set("Note", ["title": "other"]) }
      try devices[0].set("Note", ["rank": 5])
      try versions.update(devices[0], to: 2)
      try await synchronize(devices, hub)
      try versions.update(devices[1], to: 2)
      try await synchronize(devices, hub)
      for device in devices {
        #expect(try device.value(update.entity, update.title) == (isLast ? "own" : "other"))
        #expect(try device.value(update.entity, "rank") == "5")
      }
    }
  }

  @Test("A value that was changed and changed back was set last", arguments: [false, true])
  func backAndForth(withOther: Bool) async throws {
    let versions = try VersionList([[Self.first], [Self.first]])
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try ["a", "b"].map { try versions.device(folder, $0) }
      try devices[0].change { try $0.create("Note")["title"] = "new" }
      try await synchronize(devices, hub)
      try devices[0].set("Note", ["title": "own"])
      try devices[1].set("Note", ["title": "other"])
      try devices[0].set("Note", withOther ? ["title": "new", "rank": 3] : ["title": "new"])
      try await synchronize(devices, hub)
      for device in devices { #expect(try device.value("Note", "title") == "new") }
    }
  }

  // MARK: Removed parts

  /// A change of something that the next version doesn't have, and the one after it does.
  struct Removal: Sendable, CustomTestStringConvertible {
    let name: String
    let change: @Sendable (ManagedObjectContext) throws -> Void

    var testDescription: String { name }

    init(_ name: String, _ change: @escaping @Sendable (ManagedObjectContext) throws -> Void) {
      (self.name, self.change) = (name, change)
    }
  }

  private static let complete = [
    EntityDescription(
      "Note",
      attributes: [
        .init("title", .string), .init("body", .string), .init("size", .composite, compositeName: "Size"),
      ],
      relationships: [
        .init("folder", to: "Folder", inverse: "notes"), .init("tags", toMany: "Tag", inverse: "notes"),
        .init("links", toMany: "Link"), .init("next", to: "Note"),
      ]),
    EntityDescription(
      "Folder", attributes: [.init("title", .string)],
      relationships: [.init("notes", toMany: "Note", inverse: "folder", isOrdered: true)]),
    EntityDescription(
      "Tag", attributes: [.init("title", .string)],
      relationships: [.init("notes", toMany: "Note", inverse: "tags")]),
    EntityDescription("Link", attributes: [.init("title", .string)]),
  ]
  private static let reduced = [
    EntityDescription("Note", attributes: [.init("title", .string)]),
    EntityDescription("Folder", attributes: [.init("title", .string)]),
  ]

  private static func first(_ entity: String, _ context: ManagedObjectContext, _ title: String? = nil) throws
    -> ManagedObject
  {
    try #require(
      context.fetch(FetchRequest<ManagedObject>(entity)).sorted { "\($0["title"] ?? "")" < "\($1["title"] ?? "")" }
        .first { title == nil || $0["title"] as? String == title })
  }

  static let removals = [
    Removal("an attribute") { try first("Note", $0)["body"] = "new" },
    Removal("an attribute, set to nil") { try first("Note", $0, "2")["body"] = nil },
    Removal("a part of a composite") { try first("Note", $0, "2")["size"] = ["width": 9, "height": 2] },
    Removal("a reference") { try first("Note", $0, "1")["folder"] = try first("Folder", $0, "g") },
    Removal("a reference without an inverse") { try first("Note", $0, "1")["next"] = try first("Note", $0, "3") },
    Removal("a reference, set to nil") { try first("Note", $0, "2")["folder"] = nil },
  ]

  @Test("Changes of parts that an update removes come back with the next one", arguments: removals)
  func returningParts(_ removal: Removal) async throws {
    let versions = try VersionList([Self.complete, Self.reduced, Self.complete])
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try ["a", "b"].map { try versions.device(folder, $0) }
      try devices[0].change { context in
        let tags = try ["t", "u"].map { title in
          let tag = try context.create("Tag")
          tag["title"] = title
          return tag
        }
        let folders = try ["f", "g"].map { title in
          let folder = try context.create("Folder")
          folder["title"] = title
          return folder
        }
        try context.create("Link")["title"] = "l"
        for number in 1...4 {
          let note = try context.create("Note")
          (note["title"], note["body"]) = ("\(number)", "body \(number)")
          note["size"] = ["width": number, "height": 2]
          note["folder"] = folders[0]
          try note.many("tags").insert(tags[1])
          if number == 2 { try note.many("tags").insert(tags[0]) }
        }
      }
      try await synchronize(devices, hub)
      try devices[0].change(removal.change)
      let wanted = try devices[0].contents()
      try versions.update(devices[0], to: 2)
      for device in devices { try versions.update(device, to: 3) }
      try await synchronize(devices, hub)
      for device in devices { #expect(try device.contents() == wanted) }
    }
  }

  @Test(
    "Of changes in three versions, the second of which lacks the attribute, the last one that was sent holds",
    arguments: [1, 2])
  func threeVersions(_ last: Int) async throws {
    let (with, without) = ([Self.first], Self.updates[1].entities)
    let versions = try VersionList([with, without, with])
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try ["a", "b", "c"].map { try versions.device(folder, $0) }
      try devices[0].change { try $0.create("Note")["title"] = "new" }
      try await synchronize(devices, hub)
      try versions.update(devices[2], to: 3)
      let changes: [() throws -> Void] = [
        { try devices[0].set("Note", ["body": "first"]) },
        { try devices[1].set("Note", ["body": "second"]) },
        { try devices[2].set("Note", ["body": "third"]) },
      ]
      for index in 0..<3 where index != last { try changes[index]() }
      try changes[last]()
      try versions.update(devices[0], to: 2)
      try await synchronize([devices[0]], hub)
      try versions.update(devices[1], to: 3)
      try await synchronize(devices, hub)
      try versions.update(devices[0], to: 3)
      try await synchronize(devices, hub)
      for device in devices { #expect(try device.value("Note", "body") == ["second", "third"][last - 1]) }
    }
  }

  @Test("Objects that others change or delete while a version lacks their entity are so when it comes back")
  func changedMeanwhile() async throws {
    let versions = try VersionList([Self.complete, Self.reduced, Self.complete])
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try ["a", "b"].map { try versions.device(folder, $0) }
      try devices[0].change { context in
        for title in ["s", "t", "u"] { try context.create("Tag")["title"] = title }
        let note = try context.create("Note")
        (note["title"], note["body"]) = ("1", "body")
        try note.many("tags").insert(Self.first("Tag", context, "t"))
      }
      try await synchronize(devices, hub)
      try versions.update(devices[0], to: 2)
      try await synchronize(devices, hub)
      try devices[1].change { context in
        for title in ["s", "t"] { context.delete(try Self.first("Tag", context, title)) }
        try Self.first("Tag", context, "u")["title"] = "changed"
        try Self.first("Note", context)["body"] = nil
        try context.create("Tag")["title"] = "new"
      }
      let wanted = try devices[1].contents()
      try await synchronize(devices, hub)
      for device in devices { try versions.update(device, to: 3) }
      try await synchronize(devices, hub)
      for device in devices { #expect(try device.contents() == wanted) }
    }
  }
}
