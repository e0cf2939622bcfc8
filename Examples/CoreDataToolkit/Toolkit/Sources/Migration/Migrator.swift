import CoreData
import Foundation

public protocol ModelVersionProtocol: RawRepresentable, CaseIterable, Equatable where RawValue == String {
  var successor: Self? { get }
  static var currentVersion: Self { get }
  var modelName: String { get }
  func managedObjectModel() -> NSManagedObjectModel
  func mappingModelToSuccessor() throws -> NSMappingModel?
}

public enum MigrationError: Error {
  case unknownStoreVersion
  case noMapping(from: String, to: String)
  case cancelled
}

extension ModelVersionProtocol {
  public init?(compatibleWithStoreAt url: URL) throws {
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: url, options: nil)
    guard
      let version = Self.allCases.first(where: {
        $0.managedObjectModel().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
      })
    else { return nil }
    self = version
  }

  public func mappingModelToSuccessor() throws -> NSMappingModel? {
    guard let successor = successor else { return nil }
    return try NSMappingModel.inferredMappingModel(
      forSourceModel: managedObjectModel(), destinationModel: successor.managedObjectModel())
  }
}

public struct MigrationStep {
  public let sourceModel: NSManagedObjectModel
  public let destinationModel: NSManagedObjectModel
  public let mappings: [NSMappingModel]
}

public final class Migrator<Version: ModelVersionProtocol>: NSObject, ProgressReporting {
  public private(set) lazy var progress: Progress = {
    let progress = Progress(totalUnitCount: 100)
    progress.cancellationHandler = { [weak self] in self?.cancel() }
    return progress
  }()
  public var enableLog = false
  private let sourceURL: URL
  private let destinationURL: URL
  private var currentManager: NSMigrationManager?

  public init(sourceURL: URL, destinationURL: URL? = nil) {
    self.sourceURL = sourceURL
    self.destinationURL = destinationURL ?? sourceURL
  }

  public static func requiresMigration(at url: URL, to version: Version) -> Bool {
    guard let metadata = NSPersistentStoreCoordinator.metadata(at: url) else { return false }
    return !version.managedObjectModel().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
  }

  private func cancel() {
    currentManager?.cancelMigrationWithError(MigrationError.cancelled)
  }

  private func steps(from source: Version, to target: Version) throws -> [MigrationStep] {
    var steps: [MigrationStep] = []
    var current = source
    while current != target, let next = current.successor {
      guard let mapping = try current.mappingModelToSuccessor() else {
        throw MigrationError.noMapping(from: current.rawValue, to: next.rawValue)
      }
      steps.append(
        MigrationStep(
          sourceModel: current.managedObjectModel(), destinationModel: next.managedObjectModel(), mappings: [mapping]))
      current = next
    }
    return steps
  }

  /// Moves the contents of the write-ahead log into the store.
  public static func forceWALCheckpointing(storeAt url: URL) throws {
    guard let metadata = NSPersistentStoreCoordinator.metadata(at: url),
      let model = Version.allCases.lazy.map({ $0.managedObjectModel() }).first(where: {
        $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
      })
    else { return }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let options = [NSSQLitePragmasOption: ["journal_mode": "DELETE"]]
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
    try coordinator.remove(store)
  }

  public func migrate(
    to target: Version, deleteSource: Bool = false, managerProvider: ((MigrationStep) -> NSMigrationManager)? = nil
  ) throws {
    guard let source = try Version(compatibleWithStoreAt: sourceURL) else { throw MigrationError.unknownStoreVersion }
    try Self.forceWALCheckpointing(storeAt: sourceURL)
    var currentURL = sourceURL
    let steps = try self.steps(from: source, to: target)
    guard !steps.isEmpty else { return }
    for (index, step) in steps.enumerated() {
      if progress.isCancelled { throw MigrationError.cancelled }
      try autoreleasepool {
        let temporaryURL = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent(UUID().uuidString)
          .appendingPathExtension("sqlite")
        let manager =
          managerProvider?(step)
          ?? NSMigrationManager(sourceModel: step.sourceModel, destinationModel: step.destinationModel)
        manager.usesStoreSpecificMigrationManager = false
        currentManager = manager
        defer { currentManager = nil }
        for mapping in step.mappings {
          try manager.migrateStore(
            from: currentURL, sourceType: NSSQLiteStoreType, options: nil, with: mapping,
            toDestinationURL: temporaryURL,
            destinationType: NSSQLiteStoreType, destinationOptions: nil)
        }
        if currentURL != sourceURL { try NSPersistentStoreCoordinator.destroyStore(at: currentURL) }
        currentURL = temporaryURL
      }
      progress.completedUnitCount = Int64(100 * (index + 1) / steps.count)
    }
    try NSPersistentStoreCoordinator.replaceStore(at: destinationURL, withStoreAt: currentURL)
    if currentURL != sourceURL { try NSPersistentStoreCoordinator.destroyStore(at: currentURL) }
    if deleteSource, sourceURL != destinationURL {
      for suffix in ["", "-wal", "-shm"] {
        let url = URL(fileURLWithPath: sourceURL.path + suffix)
        if FileManager.default.fileExists(atPath: url.path) { try FileManager.default.removeItem(at: url) }
      }
    }
  }
}

// MARK: - Policies

/// Copies dates from one attribute to another.
public class StampingPolicy: NSEntityMigrationPolicy {
  public static let stamp = Date(timeIntervalSinceReferenceDate: 1000)

  override public func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    guard
      let destination = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        .first
    else {
      fatalError("must return instance")
    }
    destination.setValue(StampingPolicy.stamp, forKey: "createdAt")
    let seen = (manager.userInfo?["seen"] as? Int ?? 0) + 1
    var userInfo = manager.userInfo ?? [:]
    userInfo["seen"] = seen
    manager.userInfo = userInfo
  }

  override public func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
    if manager.userInfo == nil { manager.userInfo = [:] }
  }
}

extension NSEntityMigrationPolicy {
  public func uniqueDestination(_ manager: NSMigrationManager, entityName: String, key: String, value: String) throws
    -> NSManagedObject
  {
    let request = NSFetchRequest<NSManagedObject>(entityName: entityName)
    request.predicate = NSPredicate(format: "%K == %@", key, value)
    request.fetchLimit = 1
    if let found = try manager.destinationContext.fetch(request).first { return found }
    let new = NSEntityDescription.insertNewObject(forEntityName: entityName, into: manager.destinationContext)
    new.setValue(value, forKey: key)
    return new
  }
}

extension NSManagedObject {
  public func setValues(from source: NSManagedObject, keys: [String]? = nil) {
    for (name, _) in entity.attributesByName where source.entity.attributesByName[name] != nil {
      if let keys = keys, !keys.contains(name) { continue }
      setValue(source.value(forKey: name), forKey: name)
    }
  }

  public var shortDescription: String {
    let primaryKeyName = entity.uniquenessConstraints.first?.first as? NSPropertyDescription
    let name = primaryKeyName?.name ?? entity.attributesByName.keys.sorted().first ?? ""
    return "\(entity.name ?? "") \(primitiveValue(forKey: name).map { "\($0)" } ?? "nil")"
  }
}

extension NSMappingModel {
  public func mapping(to entity: String) -> NSEntityMapping? {
    entityMappings.first { $0.destinationEntityName == entity }
  }
}
