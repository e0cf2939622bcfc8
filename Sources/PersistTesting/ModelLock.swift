public import Foundation
public import Persist

/// The released versions of models, locked by their fingerprints in a file next to the models.
///
/// A version that users' stores have must never change: the stores would no longer match the model, and stores of that
/// version wouldn't be recognized. A test that checks the lock detects such a change before it is released, and
/// explains how to make it correctly:
///
/// ```swift
/// @Test("Released model versions don't change")
/// func released() throws {
///   try ModelLock.check(modelsAt: modelsFolder)
/// }
/// ```
///
/// At each release, `persist lock MODELS` adds the new versions. A version that isn't locked is in development and may
/// change. Anything that doesn't affect a store may change in any version: defaults, validation, delete rules, class
/// names (see `Fingerprint`).
public struct ModelLock: Sendable, Hashable {
  /// A locked version.
  public struct Version: Sendable, Hashable, Comparable {
    /// The name of the model, which is that of its family.
    public var model: String
    /// The name of the version.
    public var name: String

    /// Creates the name of a version, which needn't exist.
    public init(model: String, name: String) {
      self.model = model
      self.name = name
    }

    /// Sorts by model and then by version, both in the order of their texts: `Shop 10` comes before `Shop 2`.
    public static func < (left: Version, right: Version) -> Bool { (left.model, left.name) < (right.model, right.name) }
  }

  /// The difference between a version and its released form.
  public struct Change: Sendable, Hashable {
    /// The locked version that differs.
    public var version: Version
    /// Whether the version was removed.
    public var isMissing: Bool
    /// The names of entities that were changed, added or removed.
    public var entities: [String]
  }

  /// The name of the lock file, which is in the folder that contains the models.
  public static let fileName = "models.lock"

  /// The fingerprint of each entity by name, as hexadecimal digits, for each locked version.
  public internal(set) var fingerprints: [Version: [String: String]]

  /// The names of the versions that a version grew from: one, or two for a version that merges two branches. Versions
  /// that aren't locked can have parents too.
  public internal(set) var parents: [Version: Set<String>]

  /// Creates an empty lock.
  public init() {
    fingerprints = [:]
    parents = [:]
  }

  /// Returns the location of the lock: in the folder of the models, or next to the model if a URL names a single one.
  public static func url(forModelsAt models: URL) -> URL {
    (isOneModel(models) ? models.deletingLastPathComponent() : models).appendingPathComponent(fileName)
  }

  /// Whether a URL names a single model, as opposed to a folder, whose lock may contain others too.
  package static func isOneModel(_ models: URL) -> Bool {
    ["xcdatamodeld", "xcdatamodel", "momd", "mom", "json"].contains(models.pathExtension.lowercased())
  }

  /// The locked versions, sorted.
  public var versions: [Version] { fingerprints.keys.sorted() }

  /// Whether a version is locked: released, and thus not to be changed.
  public func isLocked(_ version: Version) -> Bool { fingerprints[version] != nil }

  /// Locks the versions of a registry that aren't locked yet. Locked versions stay unchanged, even if they differ.
  ///
  /// - Parameters:
  ///   - registry: the registry with the versions to lock.
  ///   - name: the name or version identifier of a single version to lock; nil for all.
  /// - Returns: the newly locked versions.
  /// - Throws: `PersistenceError.Code.modelNotFound` if there is no such version; the errors of versions and mapping
  ///   models that can't be read, without which the parents of versions can't be determined.
  @discardableResult
  public mutating func lock(_ registry: ModelRegistry, version name: String? = nil) throws -> [Version] {
    try registry.requireReadable()
    let only = try name.map { try registry.version(named: $0) }
    let before = self
    var added: [Version] = []
    for (key, version) in Self.versions(of: registry)
    where fingerprints[key] == nil && (only.map { $0.model === version.model } ?? true) {
      fingerprints[key] = Self.fingerprints(of: version)
      added.append(key)
    }
    for family in registry.families {
      let lineage = VersionLineage(family, lock: before, registry: registry)
      for key in added where key.model == family.name && parents[key] == nil {
        let names = lineage.parents(of: key.name)
        if !names.isEmpty { parents[key] = Set(names) }
      }
    }
    return added
  }

  /// Removes a version from the lock, for one that wasn't released after all.
  ///
  /// - Returns: whether it was locked.
  @discardableResult
  public mutating func unlock(_ version: Version) -> Bool {
    parents[version] = nil
    return fingerprints.removeValue(forKey: version) != nil
  }

  /// Removes everything about a version that is removed itself; versions that grew from it have no parent any longer.
  mutating func remove(_ version: Version) {
    unlock(version)
    for key in parents.keys where key.model == version.model {
      parents[key]?.remove(version.name)
      if parents[key]?.isEmpty == true { parents[key] = nil }
    }
  }

  /// Records the versions that a version grew from.
  package mutating func setParents(_ names: [String], of version: Version) { parents[version] = Set(names) }

  /// Returns the differences between the versions of a registry and their released forms, in order; empty if there are
  /// none.
  ///
  /// - Parameters:
  ///   - registry: the registry to compare with the lock.
  ///   - isPart: whether the registry may lack entire models that are locked.
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

  /// - Throws: `PersistenceError.Code.releasedVersionChanged`, with instructions, if a locked version was
  ///   changed or removed; the errors of versions and mapping models that can't be read.
  public func check(_ registry: ModelRegistry, isPart: Bool = false) throws {
    try registry.requireReadable()
    let problems = changes(in: registry, isPart: isPart).map { $0.error(in: registry) }
    guard !problems.isEmpty else { return }
    throw PersistenceError.combining(
      problems, as: .releasedVersionChanged, "\(problems.count) released model versions were changed.")
  }

  /// Checks models against the lock next to them.
  ///
  /// - Parameter models: a location as in `ModelRegistry.init(contentsOf:)`.
  /// - Throws: `PersistenceError.Code.releasedVersionChanged`, `PersistenceError.Code.fileAccess`
  ///   if there is no lock, and errors in the models.
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
  /// Describes the change in an error, with instructions.
  func error(in registry: ModelRegistry) -> PersistenceError {
    let found = registry.families.first { $0.name == version.model }?.versions.first { $0.name == version.name }
    guard !isMissing else {
      return PersistenceError(
        .releasedVersionChanged, "The released version '\(version.name)' of '\(version.model)' is gone.",
        fix: "Restore it: stores of that version need it. If it was never released: "
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
