import Foundation
import Persist
import PersistTestSupport

@testable import PersistSync

/// A model with every kind of relationship, with unique, derived and composite values, and delete rules.
enum SyncModel {
  static let description = ModelDescription(
    entities: entities,
    composites: [
      CompositeDescription(
        "Size",
        elements: [
          AttributeDescription("width", .int32), AttributeDescription("unit", .string),
          AttributeDescription("margin", .composite, compositeName: "Margin"),
        ]),
      CompositeDescription(
        "Margin", elements: [AttributeDescription("left", .double), AttributeDescription("right", .double)]),
    ])

  private static let entities = [
    EntityDescription(
      "Box",
      attributes: [
        .init("label", .string), .init("note", .string), .init("size", .composite, compositeName: "Size"),
        .init("upper", .string, derivation: "uppercase:(label)"), .init("settings", .string),
      ],
      relationships: [
        .init("items", toMany: "Item", inverse: "box", isOrdered: true, deleteRule: .nullify),
        .init("lid", to: "Lid", inverse: "box"), .init("stickers", toMany: "Sticker", isOrdered: true),
        .init("badges", toMany: "Tag"), .init("parts", toMany: "Box", inverse: "whole", deleteRule: .cascade),
        .init("whole", to: "Box", inverse: "parts"), .init("first", to: "Item"),
      ]),
    EntityDescription(
      "Item",
      attributes: [
        .init("id", .uuid), .init("name", .string, default: "new"), .init("price", .decimal),
        .init("photo", .binary, allowsExternalStorage: true), .init("when", .date), .init("flag", .boolean),
      ],
      relationships: [
        .init("box", to: "Box", inverse: "items"),
        .init("tags", toMany: "Tag", inverse: "items", isOrdered: true),
        .init("friends", toMany: "Item", inverse: "friends"), .init("partner", to: "Item", inverse: "partner"),
        .init("stickers", toMany: "Sticker"),
      ]),
    EntityDescription("Part", parent: "Item", attributes: [.init("weight", .double)]),
    EntityDescription(
      "Lid", attributes: [.init("color", .string)], relationships: [.init("box", to: "Box", inverse: "lid")]),
    EntityDescription(
      "Tag", attributes: [.init("label", .string), .init("color", .string), .init("rank", .int32)],
      relationships: [.init("items", toMany: "Item", inverse: "tags")], uniquenessConstraints: [["label"]]),
    EntityDescription("Sticker", attributes: [.init("text", .string), .init("shape", .string, isOptional: false)]),
    EntityDescription("Star", parent: "Sticker", attributes: [.init("points", .int16)]),
  ]

  static let identifiers = ["Item": "id"]
}

/// A device: a store with its replica.
final class Device {
  let url: URL
  private(set) var model: ManagedObjectModel
  private var registry: ModelRegistry?
  private(set) var identifiers: [String: String]
  let sources: SyncSources
  private let mappingModels: [MappingModel]
  private(set) var coordinator: PersistentStoreCoordinator
  private(set) var replica: Replica

  /// - Parameters:
  ///   - offset: The error of the device's clock in seconds.
  ///   - sources: The device's clock and identities instead.
  init(
    _ url: URL, _ model: ManagedObjectModel, identifiedBy identifiers: [String: String], offset: TimeInterval = 0,
    registry: ModelRegistry? = nil, mappingModels: [MappingModel] = [], sources: SyncSources? = nil
  ) throws {
    self.mappingModels = mappingModels
    (self.url, self.model, self.identifiers) = (url, model, identifiers)
    self.registry = registry
    self.sources = sources ?? SyncSources(now: { Date().addingTimeInterval(offset) })
    (coordinator, replica) = try Self.open(url, model, registry, mappingModels, identifiers, self.sources)
  }

  private static func open(
    _ url: URL, _ model: ManagedObjectModel, _ registry: ModelRegistry?, _ mappingModels: [MappingModel],
    _ identifiers: [String: String], _ sources: SyncSources
  ) throws -> (PersistentStoreCoordinator, Replica) {
    let coordinator = PersistentStoreCoordinator(model: model, registry: registry)
    var options = StoreOptions(migrator: AutomaticMigrator(mappingModels: mappingModels))
    options.tracksHistory = true
    // No test of synchronization takes the computer's power away.
    options.pragmas["synchronous"] = "OFF"
    try coordinator.addStore(at: url, options: options)
    let replica = try Replica(
      coordinator, identifiedBy: identifiers, mappingModels: mappingModels, sources: sources)
    return (coordinator, replica)
  }

  func close() throws {
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  func reopen() throws {
    (coordinator, replica) = try Self.open(url, model, registry, mappingModels, identifiers, sources)
  }

  /// Continues with another version of the model.
  ///
  /// - Parameter identifiers: The identifying attributes of this version; nil for the same as before.
  func update(
    to model: ManagedObjectModel, _ registry: ModelRegistry?, identifiedBy identifiers: [String: String]? = nil
  ) throws {
    try close()
    (self.model, self.registry, self.identifiers) = (model, registry, identifiers ?? self.identifiers)
    try reopen()
  }

  /// The files of the store.
  private static func files(at url: URL) -> [(URL, URL)] {
    let name = url.deletingPathExtension().lastPathComponent
    let support = ".\(name)_SUPPORT"
    return [url.lastPathComponent, url.lastPathComponent + "-wal", support].map {
      (url.deletingLastPathComponent().appendingPathComponent($0), URL(fileURLWithPath: $0))
    }
  }

  /// Copies the closed store to another place.
  func copyFiles(to other: URL) throws {
    for (from, to) in zip(Self.files(at: url), Self.files(at: other)) {
      try? FileManager.default.removeItem(at: to.0)
      if FileManager.default.fileExists(atPath: from.0.path) {
        try FileManager.default.copyItem(at: from.0, to: to.0)
      }
    }
  }
}

extension ManagedObject {
  func many(_ name: String) throws -> RelationshipSet<ManagedObject> { try related(name) }
}
