import ArgumentParser
import Foundation
import Persist
import PersistInspection
import PersistTesting

/// `persist versions`: the versions of models.
struct VersionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "versions", abstract: "List the versions of models: parents, locks, mapping models, ways.",
    discussion: """
      The way is the one that a migration of a generic store to the current version takes: none, inPlace, copy or \
      impossible. Versions that grew from the same parent in two branches are listed with the differences of both; \
      'persist merge-versions' combines them.
      """)

  @Argument(help: "A model, or a folder with models.")
  var models: String

  @OptionGroup var common: OutputArguments

  private var json: Bool { common.json }

  func run() throws {
    let folder = try ModelRegistry.url(of: models)
    let registry = try ModelRegistry(contentsOf: folder, needsCurrent: false)
    let lock = try ModelLock.ifPresent(forModelsAt: folder)
    for (index, family) in registry.families.enumerated() {
      let list = VersionList(family, registry: registry, lock: lock)
      if json {
        try StandardOutput.print { list.write(to: &$0) }
      } else {
        try StandardOutput.print((index > 0 ? "\n" : "") + list.text(fitting: StandardOutput.width))
      }
    }
  }
}

extension ModelLock {
  /// The lock of models; nil if there is none.
  static func ifPresent(forModelsAt models: URL) throws -> ModelLock? {
    let file = url(forModelsAt: models)
    return FileManager.default.fileExists(atPath: file.path) ? try ModelLock(contentsOf: file) : nil
  }
}

/// The versions of one model, for people and programs.
private struct VersionList {
  private struct Entry {
    let name: String
    var identifiers: [String] = []
    var hash: String?
    var isLocked = false
    var parents: [String] = []
    var mappingModels: [String] = []
    var way: String?
    var problem: String?
  }

  private let family: ModelFamily
  private let entries: [Entry]
  private let heads: VersionHeads

  init(_ family: ModelFamily, registry: ModelRegistry, lock: ModelLock?) {
    self.family = family
    let lineage = VersionLineage(family, lock: lock, registry: registry)
    heads = VersionHeads(family, lineage)
    let versions = family.versions
    let readable = Set(versions.map(\.name))
    let broken = family.versionNames.filter { !readable.contains($0) }.map { name in
      Entry(
        name: name,
        problem: family.problems.first { $0.place.file?.path.contains("/\(name).") == true }?.description
          ?? "It can't be read.")
    }
    let isCurrentReadable = family.current.name == family.currentName
    entries = versions.map { version in
      let plan = isCurrentReadable ? try? MigrationPlan(from: version, to: family.current, registry: registry) : nil
      let others = versions.filter { $0.name != version.name }
      return Entry(
        name: version.name, identifiers: version.model.versionIdentifiers,
        hash: version.model.fingerprint.description,
        isLocked: lock?.isLocked(ModelLock.Version(model: family.name, name: version.name)) == true,
        parents: lineage.parents(of: version.name),
        mappingModels: Set(others.flatMap { registry.mappingModels(from: $0, to: version) }.map(\.name)).sorted(),
        way: plan?.way.rawValue)
    } + broken
  }

  func write(to line: inout JSONText) {
    line.field("family", family.name)
    line.field("current", family.currentName)
    line.field("versions", of: entries) { json, entry in
      json.object {
        $0.field("name", entry.name)
        $0.field("identifiers", strings: entry.identifiers)
        $0.field("hash", entry.hash)
        $0.field("locked", entry.isLocked)
        $0.field("parents", strings: entry.parents)
        $0.field("mappingModels", strings: entry.mappingModels)
        $0.field("way", entry.way)
        $0.field("problem", entry.problem)
      }
    }
    heads.write(to: &line)
  }

  /// - Parameter width: The number of characters in a line; nil for any.
  func text(fitting width: Int?) -> String {
    var table = TextTable(header: ["version", "identifiers", "hash", "locked", "from", "way to current"])
    for entry in entries {
      let mapping = entry.mappingModels.isEmpty ? "" : ", mapping model \(entry.mappingModels.joined(separator: ", "))"
      table.add(
        entry.name, entry.identifiers.joined(separator: ", "), entry.hash.map { String($0.prefix(12)) } ?? "",
        entry.isLocked ? "locked" : "", entry.parents.joined(separator: ", ") + mapping,
        status(of: entry))
    }
    return "\(family.name)\n\(table.text(indent: "  ", fitting: width))" + heads.text.map { "\n\($0)" }.joined()
  }

  private func status(of entry: Entry) -> String {
    guard entry.name == family.currentName else { return entry.problem ?? entry.way ?? "" }
    return "current" + (entry.problem.map { ", \($0)" } ?? "")
  }
}
