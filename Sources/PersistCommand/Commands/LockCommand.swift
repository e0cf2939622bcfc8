import ArgumentParser
import Foundation
import Persist
import PersistTesting

/// `persist lock`: locks released model versions by their fingerprints.
struct LockCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock", abstract: "Lock released model versions, so that changes to them are detected.",
    discussion: """
      Run it at each release: versions that aren't locked yet are added to '\(ModelLock.fileName)' next to the models. \
      If a locked version was changed or is missing, exits with status 3 and writes nothing.
      """)

  @Argument(help: "A model, or a folder with models.")
  var models: String

  @Option(help: "Lock this version only.")
  var version: String?

  @Option(help: "Unlock this version, which wasn't released after all.")
  var unlock: String?

  @Flag(help: "Check only, for CI; write nothing.")
  var check = false

  @Flag(help: "Print JSON for programs.")
  var json = false

  func validate() throws {
    guard [version != nil, unlock != nil, check].count(where: { $0 }) <= 1 else {
      throw ValidationError("--version, --unlock and --check can't be combined.")
    }
  }

  func run() throws {
    let folder = URL(fileURLWithPath: models)
    let registry = try ModelRegistry(contentsOf: folder)
    let file = ModelLock.url(forModelsAt: folder)
    let isThere = FileManager.default.fileExists(atPath: file.path)
    var lock = try isThere || check ? ModelLock(contentsOf: file) : ModelLock()
    let isPart = ModelLock.isOneModel(folder)
    let removed = try unlock.map { try unlocked($0, &lock, of: isPart ? registry.families.map(\.name) : nil) } ?? []
    let changes = lock.changes(in: registry, isPart: isPart)
    var added: [ModelLock.Version] = []
    if !check, unlock == nil, changes.isEmpty { added = try lock.lock(registry, version: version) }
    if !added.isEmpty || !removed.isEmpty { try lock.write(to: file) }
    try show(lock, file, added, removed, changes)
    do {
      try lock.check(registry, isPart: isPart)
    } catch {
      StandardError.print("persist: \(error)")
      throw Failure.found
    }
  }

  /// - Parameter models: the models to search for the version; nil for all locked ones.
  private func unlocked(
    _ name: String, _ lock: inout ModelLock, of models: [String]?
  ) throws -> [ModelLock.Version] {
    let found = lock.versions.filter { $0.name == name && models?.contains($0.model) != false }
    guard let version = found.first, found.count == 1 else {
      let known = lock.versions.map { "'\($0.name)'" }.joined(separator: ", ")
      throw PersistenceError(
        .modelNotFound,
        found.isEmpty ? "The version '\(name)' isn't locked." : "Several models have a version '\(name)'.",
        fix: found.isEmpty ? "The locked versions are \(known)." : "Name one model instead of the folder.")
    }
    lock.unlock(version)
    return [version]
  }

  private func show(
    _ lock: ModelLock, _ file: URL, _ added: [ModelLock.Version], _ removed: [ModelLock.Version],
    _ changes: [ModelLock.Change]
  ) throws {
    guard json else {
      for version in added { try StandardOutput.print("locked    \(version.model): \(version.name)") }
      for version in removed { try StandardOutput.print("unlocked  \(version.model): \(version.name)") }
      return try StandardOutput.print("\(lock.versions.count) versions locked in \(file.path)")
    }
    try StandardOutput.print {
      $0.field("file", file.path)
      $0.field("locked", of: lock.versions) { $0.value($1) }
      $0.field("added", of: added) { $0.value($1) }
      $0.field("removed", of: removed) { $0.value($1) }
      $0.field("changes", of: changes) { json, change in
        json.object {
          $0.field("model", change.version.model)
          $0.field("version", change.version.name)
          $0.field("missing", change.isMissing)
          $0.field("entities", strings: change.entities)
        }
      }
    }
  }
}

extension JSONText {
  fileprivate mutating func value(_ version: ModelLock.Version) {
    object {
      $0.field("model", version.model)
      $0.field("version", version.name)
    }
  }
}
