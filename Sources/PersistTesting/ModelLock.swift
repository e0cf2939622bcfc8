public import Foundation
public import Persist

/// The released versions of models, locked by their fingerprints in a file beside the models.
///
/// A version that users' stores have must never change again: what is stored differs from what the model says, and
/// stores of that version are no longer recognised. A test that checks the lock tells of such a change before it is
/// released, and how to do it right:
///
/// ```swift
/// @Test("Released model versions don't change")
/// func released() throws {
///   try ModelLock.check(modelsAt: modelsFolder)
/// }
/// ```
///
/// At each release `persist lock MODELS` adds the versions that are new. A version that isn't locked is in development
/// and may change. What changes nothing in a store may change in any version: defaults, validation, delete rules, class
/// names (see ``Persist/Fingerprint``).
public struct ModelLock: Sendable, Hashable {
  /// A locked version.
  public struct Version: Sendable, Hashable, Comparable {
    /// The name of the model: that of its family.
    public var model: String
    /// The name of the version.
    public var name: String

    public init(model: String, name: String) {
      self.model = model
      self.name = name
    }

    public static func < (left: Version, right: Version) -> Bool { (left.model, left.name) < (right.model, right.name) }
  }

  /// How a version differs from what was released.
  public struct Change: Sendable, Hashable {
    public var version: Version
    /// Whether the version is gone altogether.
    public var isMissing: Bool
    /// The names of the entities that were stored otherwise, that are new, or that are gone.
    public var entities: [String]
  }

  /// The file's name: it lies in the folder that holds the models.
  public static let fileName = "models.lock"

  /// For each locked version the fingerprint of each entity by name, as hexadecimal digits.
  public internal(set) var fingerprints: [Version: [String: String]]

  /// A lock on nothing.
  public init() { fingerprints = [:] }

  /// Where the lock of models is: in their folder, or beside the one model that a URL names.
  public static func url(forModelsAt models: URL) -> URL {
    (isOneModel(models) ? models.deletingLastPathComponent() : models).appendingPathComponent(fileName)
  }

  /// Whether a URL names one model, and not a folder whose lock may hold others too.
  package static func isOneModel(_ models: URL) -> Bool {
    ["xcdatamodeld", "xcdatamodel", "momd", "mom", "json"].contains(models.pathExtension.lowercased())
  }

  /// The versions that are locked, in order.
  public var versions: [Version] { fingerprints.keys.sorted() }

  public func isLocked(_ version: Version) -> Bool { fingerprints[version] != nil }

  /// Locks versions of a registry that aren't locked yet. Those that are stay as they are, also where they differ.
  ///
  /// - Parameter name: the one version to lock, by name or version identifier; nil for all.
  /// - Returns: the versions that are locked now and weren't.
  /// - Throws: ``Persist/PersistenceError/Code/modelNotFound`` where there is no such version.
  @discardableResult
  public mutating func lock(_ registry: ModelRegistry, version name: String? = nil) throws -> [Version] {
    let only = try name.map { try registry.version(named: $0) }
    var added: [Version] = []
    for (key, version) in Self.versions(of: registry)
    where fingerprints[key] == nil && (only.map { $0.model === version.model } ?? true) {
      fingerprints[key] = Self.fingerprints(of: version)
      added.append(key)
    }
    return added
  }

  /// Takes a version out of the lock: it wasn't released after all.
  ///
  /// - Returns: whether it was locked.
  @discardableResult
  public mutating func unlock(_ version: Version) -> Bool { fingerprints.removeValue(forKey: version) != nil }

  /// How the versions of a registry differ from what was released, in order; none where all is well.
  ///
  /// - Parameter isPart: whether the registry may lack whole models that are locked.
  public func changes(in registry: ModelRegistry, isPart: Bool = false) -> [Change] {
    let present = Dictionary(Self.versions(of: registry)) { first, _ in first }
    let models = Set(registry.families.map(\.name))
    return versions.filter { !isPart || models.contains($0.model) }.compactMap { key in
      guard let version = present[key] else { return Change(version: key, isMissing: true, entities: []) }
      let (old, new) = (fingerprints[key] ?? [:], Self.fingerprints(of: version))
      let entities = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }.sorted()
      return entities.isEmpty ? nil : Change(version: key, isMissing: false, entities: entities)
    }
  }

  /// - Throws: ``Persist/PersistenceError/Code/releasedVersionChanged``, with what to do instead, where a locked
  ///   version was changed or is gone.
  public func check(_ registry: ModelRegistry, isPart: Bool = false) throws {
    let problems = changes(in: registry, isPart: isPart).map { $0.error(in: registry) }
    guard !problems.isEmpty else { return }
    throw PersistenceError.combining(
      problems, as: .releasedVersionChanged, "\(problems.count) released model versions were changed.")
  }

  /// Checks models against the lock beside them.
  ///
  /// - Parameter models: what ``Persist/ModelRegistry/init(contentsOf:)`` takes.
  /// - Throws: ``Persist/PersistenceError/Code/releasedVersionChanged``, ``Persist/PersistenceError/Code/fileAccess``
  ///   where there is no lock, and what is wrong with the models.
  public static func check(modelsAt models: URL) throws {
    let file = url(forModelsAt: models)
    let lock = try ModelLock(contentsOf: file)
    try lock.check(ModelRegistry(contentsOf: models), isPart: isOneModel(models))
  }

  private static func versions(of registry: ModelRegistry) -> [(Version, ModelVersion)] {
    registry.families.flatMap { family in
      family.versions.map { (Version(model: family.name, name: $0.name), $0) }
    }
  }

  private static func fingerprints(of version: ModelVersion) -> [String: String] {
    version.model.fingerprints.mapValues(\.description)
  }
}

extension ModelLock.Change {
  /// The change in words, with what to do instead.
  func error(in registry: ModelRegistry) -> PersistenceError {
    let found = registry.families.first { $0.name == version.model }?.versions.first { $0.name == version.name }
    guard !isMissing else {
      return PersistenceError(
        .releasedVersionChanged, "The released version '\(version.name)' of '\(version.model)' is gone.",
        fix: "Put it back: stores of that version need it. If it was never released: "
          + "persist lock MODELS --unlock '\(version.name)'.")
    }
    let names = entities.map { "'\($0)'" }.joined(separator: ", ")
    let place = found?.url.map { PersistenceError.Place.file($0) } ?? .unknown
    return PersistenceError(
      .releasedVersionChanged, at: place,
      "The released version '\(version.name)' of '\(version.model)' was changed: \(names).",
      fix: "Undo that, and make the change in a new version: \(Self.howToAdd(to: found)) "
        + "If '\(version.name)' was never released: persist lock MODELS --unlock '\(version.name)'.")
  }

  private static func howToAdd(to version: ModelVersion?) -> String {
    switch version?.url?.pathExtension {
    case "xcdatamodel":
      "in Xcode Editor > Add Model Version…; by hand copy the '.xcdatamodel' within its '.xcdatamodeld' under a new "
        + "name and name the copy in '.xccurrentversion'."
    case "json": "copy the file under a new name."
    default: "keep the old model beside the new one, as a ModelVersion of the registry."
    }
  }
}
