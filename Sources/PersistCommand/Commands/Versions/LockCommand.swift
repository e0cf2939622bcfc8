import ArgumentParser
import Foundation
import Persist
import PersistInspection
import PersistTesting

/// `persist lock`: locks released model versions by their fingerprints.
struct LockCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock", abstract: "Lock released model versions, so that changes to them are detected.",
    discussion: """
      Run it at each release: versions that aren't locked yet are added to '\(ModelLock.fileName)' next to the models. \
      If a locked version was changed or is missing, exits with status 3 and writes nothing. With --check, also exits \
      with status 3 if versions grew from the same parent in two branches; 'persist merge-versions' combines them.
      """)

  @Argument(help: "A model, or a folder with models.")
  var models: String

  @Option(help: "Lock this version only.")
  var version: String?

  @Option(help: "Unlock this version, which wasn't released after all.")
  var unlock: String?

  @Flag(help: "Check only, for CI; write nothing.")
  var check = false

  @Option(
    help: ArgumentHelp(
      "Remove all versions that this one grew from, with their mapping models.",
      discussion: "The other versions migrate as before. The consequences for stores of removed versions are listed."))
  var squash: String?

  @Flag(help: "Only show what --squash would do.")
  var dryRun = false

  @OptionGroup var common: OutputArguments

  private var json: Bool { common.json }

  func validate() throws {
    guard [version != nil, unlock != nil, squash != nil, check].count(where: { $0 }) <= 1 else {
      throw ValidationError("--version, --unlock, --squash and --check can't be combined.")
    }
    if dryRun, squash == nil { throw ValidationError("--dry-run requires --squash.") }
  }

  func run() throws {
    let folder = try ModelLock.models(at: models)
    let registry = try ModelRegistry(contentsOf: folder)
    // Without an unreadable version, the parents of others would be wrong.
    try registry.requireReadable()
    if let squash { return try removeVersions(before: squash, folder, registry) }
    let file = ModelLock.url(forModelsAt: folder)
    let isThere = FileManager.default.fileExists(atPath: file.path)
    var lock = try isThere || check ? ModelLock(contentsOf: file) : ModelLock()
    let isPart = ModelLock.isOneModel(folder)
    let removed = try unlock.map { try unlocked($0, &lock, of: isPart ? registry.families.map(\.name) : nil) } ?? []
    let changes = lock.changes(in: registry, isPart: isPart)
    let heads = registry.families.map { VersionHeads($0, VersionLineage($0, lock: lock, registry: registry)) }
    var added: [ModelLock.Version] = []
    if !check, unlock == nil, changes.isEmpty { added = try lock.lock(registry, version: version) }
    if !added.isEmpty || !removed.isEmpty { try lock.write(to: file) }
    try show(lock, in: file, added: added, removed: removed, changes: changes, heads: heads)
    do {
      try lock.check(registry, isPart: isPart)
    } catch {
      StandardError.printError("persist: \(error)")
      throw Failure.found
    }
    for line in heads.flatMap(\.text) { StandardError.printError(line) }
    if check, heads.contains(where: { !$0.pairs.isEmpty }) { throw Failure.found }
  }

  private func removeVersions(before name: String, _ folder: URL, _ registry: ModelRegistry) throws {
    let family = try registry.onlyFamily(of: models)
    var lock = try ModelLock.ifPresent(forModelsAt: folder)
    let lineage = VersionLineage(family, lock: lock, registry: registry)
    let work = try VersionSquash(before: name, in: family, lineage: lineage, registry: registry)
    if !dryRun { try work.run(lock: &lock, at: ModelLock.url(forModelsAt: folder)) }
    guard json else {
      for removal in work.removals {
        try StandardOutput.print("\(dryRun ? "would remove" : "removed")  \(family.name): \(removal.version.name)")
        let others = ["can be opened only by the model that they contain"] + removal.consequences
        for words in others { try StandardOutput.print("  stores of this version \(words)") }
      }
      for file in work.mappingModels {
        try StandardOutput.print("\(dryRun ? "would remove" : "removed")  mapping model \(file.name)")
      }
      return
    }
    try StandardOutput.print {
      $0.field("removed", of: work.removals) { json, removal in
        json.object {
          $0.field("model", family.name)
          $0.field("version", removal.version.name)
          $0.field("consequences", strings: removal.consequences)
        }
      }
      $0.field("mappingModels", strings: work.mappingModels.map(\.name))
      $0.field("dryRun", dryRun)
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
    _ lock: ModelLock, in file: URL, added: [ModelLock.Version], removed: [ModelLock.Version],
    changes: [ModelLock.Change], heads: [VersionHeads]
  ) throws {
    guard json else {
      for version in added { try StandardOutput.print("locked    \(version.model): \(version.name)") }
      for version in removed { try StandardOutput.print("unlocked  \(version.model): \(version.name)") }
      let versions = Measure.count(lock.versions.count, "version")
      return try StandardOutput.print("\(versions) locked in \(TerminalLink.path(file))")
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
      $0.field("heads", of: heads) { json, heads in
        json.object {
          $0.field("model", heads.model)
          heads.write(to: &$0)
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
