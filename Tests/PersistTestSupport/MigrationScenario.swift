public import Foundation
public import Persist

/// A small store and its migration to a newer version, by one of the possible methods: for tests that disturb it.
public struct MigrationScenario: Sendable, CustomStringConvertible {
  public enum Way: String, Sendable, CaseIterable {
    case inPlace, copiedBySQL, copiedByObject, staged, chain
    /// In place while a coordinator opens the store, with its connection.
    case opened
    /// In place, while values are converted afterward.
    case convertedLater
  }

  public let way: Way
  /// From the store's version to the destination.
  public let versions: [ModelVersion]
  public let migrator: AutomaticMigrator

  public var description: String { way.rawValue }
  public var registry: ModelRegistry { ModelRegistry(versions: versions) }
  public var newest: ModelVersion { versions[versions.count - 1] }

  public init(_ way: Way) throws {
    self.way = way
    let models = try (way == .chain ? Models.allCases : [.first, .second]).map { model in
      // If no large value is forgotten, the migration is nothing but a transaction.
      try model.model(keepingDraft: [.opened, .convertedLater].contains(way), keepingFolder: way == .convertedLater)
    }
    let versions = models.enumerated().map { ModelVersion(name: "\($0.offset + 1)", model: $0.element) }
    self.versions = versions
    migrator = try Self.migrator(way, versions)
  }

  public func migrate(_ store: URL, options: StoreOptions = StoreOptions()) throws {
    guard way == .opened || way == .convertedLater else {
      try migrator.migrate(storeAt: store, to: newest, registry: registry, options: options)
      return
    }
    var options = options
    options.migrator = migrator
    let coordinator = PersistentStoreCoordinator(model: newest.model, registry: registry)
    let opened = try coordinator.addStore(at: store, options: options)
    if way == .convertedLater { while try !coordinator.finishDeferredMigration(within: .zero) {} }
    try coordinator.remove(opened)
  }

  private static func migrator(_ way: Way, _ versions: [ModelVersion]) throws -> AutomaticMigrator {
    var migrator = AutomaticMigrator()
    migrator.retries = 0
    switch way {
    case .inPlace, .opened: break
    case .convertedLater:
      migrator.defersWork = true
      migrator.deferralBudget = .zero
    case .copiedBySQL: migrator.alwaysCopies = true
    case .copiedByObject:
      var mapping = try mapping(versions[0], versions[1])
      for index in mapping.entityMappings.indices where mapping.entityMappings[index].sourceEntityName != nil {
        mapping.entityMappings[index].type = .custom
        mapping.entityMappings[index].policyName = "\(PlainPolicy.self)"
      }
      migrator.mappingModels = [mapping]
      migrator.policies = [PlainPolicy.self]
    case .staged:
      migrator.staged = try StagedMigration([
        .custom(from: versions[0], to: versions[1], didMigrate: { context in
          for mark in try context.fetch(FetchRequest("Mark")) { mark["d"] = "of \(mark["a"] ?? "nothing")" }
        })
      ])
    case .chain: migrator.mappingModels = [try mapping(versions[1], versions[2])]
    }
    return migrator
  }

  private static func mapping(_ old: ModelVersion, _ new: ModelVersion) throws -> MappingModel {
    var mapping = try MappingModel.inferred(from: old.model, to: new.model)
    mapping.sourceVersion = old.name
    mapping.destinationVersion = new.name
    return mapping
  }

  // MARK: The store

  /// Creates the store of the first version: marks in folders, with tags, and large values in files of their own.
  public func makeStore(at url: URL, marks count: Int) throws {
    let coordinator = PersistentStoreCoordinator(model: versions[0].model)
    let store = try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    let folders = (0..<3).map { _ in ManagedObject(entity: "Folder", context: context) }
    let tags = (0..<4).map { _ in ManagedObject(entity: "Tag", context: context) }
    for number in 0..<count {
      let mark = ManagedObject(entity: "Mark", context: context)
      mark["a"] = "mark \(number)"
      mark["b"] = number
      mark["c"] = String(repeating: "c", count: number % 50)
      mark["folder"] = folders[number % folders.count]
      mark["tags"] = Set([tags[number % 4], tags[(number + 1) % 4]])
      if number < 2 {
        mark["photo"] = Data(repeating: UInt8(number), count: 110_000)
        mark["draft"] = Data(repeating: UInt8(10 + number), count: 110_000)
      }
    }
    try context.save()
    try coordinator.remove(store)
  }

  private enum Models: Int, CaseIterable {
    case first, second, third, fourth

    func model(keepingDraft: Bool, keepingFolder: Bool) throws -> ManagedObjectModel {
      let photo = AttributeDescription("photo", .binary, allowsExternalStorage: true)
      let inverse = self == .first || keepingFolder ? "folder" : "folders"
      let folder = EntityDescription("Folder", relationships: [.init("marks", toMany: "Mark", inverse: inverse)])
      let tag = EntityDescription("Tag", relationships: [.init("marks", toMany: "Mark", inverse: "tags")])
      let tags = RelationshipDescription("tags", toMany: "Tag", inverse: "marks")
      guard self != .first else {
        let mark = EntityDescription(
          "Mark",
          attributes: [
            .init("a", .string), .init("b", .int32), .init("c", .string), photo,
            .init("draft", .binary, allowsExternalStorage: true),
          ], relationships: [.init("folder", to: "Folder", inverse: "marks"), tags])
        return try ManagedObjectModel(ModelDescription(entities: [mark, folder, tag]))
      }
      var attributes: [AttributeDescription] = [
        .init("a", .string), .init("b", .double), .init("d", .string), photo,
      ]
      if keepingDraft { attributes.append(.init("draft", .binary, allowsExternalStorage: true)) }
      if rawValue > 1 { attributes.append(.init("e", .int64)) }
      if rawValue > 2 { attributes.append(.init("f", .date)) }
      let formerName = self == .second ? "folder" : nil
      let folders: RelationshipDescription =
        keepingFolder
        ? .init("folder", to: "Folder", inverse: "marks")
        : .init("folders", toMany: "Folder", inverse: "marks", renamingIdentifier: formerName)
      let mark = EntityDescription("Mark", attributes: attributes, relationships: [folders, tags])
      return try ManagedObjectModel(ModelDescription(entities: [EntityDescription("Aardvark"), mark, folder, tag]))
    }
  }
}

/// Does the work of a plain entity mapping, object by object.
public final class PlainPolicy: EntityMigrationPolicy {}
