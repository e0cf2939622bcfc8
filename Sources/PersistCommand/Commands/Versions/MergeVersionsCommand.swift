import ArgumentParser
import Foundation
import Persist
import PersistTools
import PersistInspection
import PersistTesting

/// `persist merge-versions`: combines two versions that grew from the same parent.
struct MergeVersionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge-versions", abstract: "Make a version with the changes of two that grew from the same parent.",
    discussion: """
      The new version has the changes of both and becomes the current one. Renames are kept: changes and references of \
      the other side follow them, in predicates and expressions too. If both sides change the same part in different \
      ways, the conflicts are listed, nothing is written, and the exit status is 3. Nothing is written either if a \
      part of one side relies on one that the other removed. Models have to be .xcdatamodels.
      """)

  @Argument(help: "A model, or a folder with one model.")
  var models: String

  @Argument(help: "The name of the new version.")
  var name: String

  @Option(help: "One of the two versions; needed if more than two have diverged.")
  var first: String?

  @Option(help: "The other version.")
  var second: String?

  @OptionGroup var common: OutputArguments

  private var json: Bool { common.json }

  func validate() throws {
    guard (first == nil) == (second == nil) else {
      throw ValidationError("--first and --second must be used together.")
    }
  }

  func run() throws {
    let folder = try ModelLock.models(at: models)
    let registry = try ModelRegistry(contentsOf: folder)
    try registry.requireReadable()
    let family = try registry.onlyFamily(of: models)
    let lineage = VersionLineage(family, lock: try ModelLock.ifPresent(forModelsAt: folder), registry: registry)
    let (left, right) = try sides(registry, in: family, lineage: lineage)
    guard let parentName = lineage.commonParent(of: left.name, and: right.name),
      ![left.name, right.name].contains(parentName), let parent = family.version(named: parentName)
    else {
      throw PersistenceError(
        .invalidRequest, "'\(left.name)' and '\(right.name)' didn't grow from the same parent in two branches.",
        fix: "'persist versions' shows the parent of each version.")
    }
    let merge = try MergedVersions(parent: parent, first: left, second: right)
    guard merge.conflicts.isEmpty else {
      try report(merge.conflicts)
      throw Failure.found
    }
    let new = try NewModelVersion(named: name, after: left, of: family)
    try new.write(after: left, of: family, contents: merge.contents)
    do {
      _ = try ManagedObjectModel(contentsOf: new.url)
      try ModelLock.record([left.name, right.name], asParentsOf: new.name, of: family.name, forModelsAt: folder)
    } catch {
      try new.discard()
      throw error
    }
    if json {
      try StandardOutput.print {
        $0.field("family", family.name)
        $0.field("version", new.name)
        $0.field("parents", strings: [left.name, right.name])
        $0.field("conflicts", strings: [])
        $0.field("file", new.url.path)
      }
    } else {
      try StandardOutput.print(
        "'\(new.name)' has the changes of '\(left.name)' and '\(right.name)' and is the current version: "
          + TerminalLink.path(new.url))
    }
  }

  private func sides(
    _ registry: ModelRegistry, in family: ModelFamily, lineage: VersionLineage
  ) throws -> (ModelVersion, ModelVersion) {
    if let first, let second {
      return (try registry.version(named: first), try registry.version(named: second))
    }
    let heads = lineage.heads.compactMap(family.version(named:))
    guard heads.count == 2 else {
      let names = heads.map { "'\($0.name)'" }.joined(separator: ", ")
      throw PersistenceError(
        .invalidRequest,
        heads.count < 2
          ? "No versions of '\(family.name)' have diverged." : "More than two versions have diverged: \(names).",
        fix: heads.count < 2
          ? "'persist versions' shows the parent of each version." : "Name two of them with --first and --second.")
    }
    return (heads[0], heads[1])
  }

  private func report(_ conflicts: [VersionMerge.Conflict]) throws {
    guard json else {
      for conflict in conflicts { try StandardOutput.print("conflict: \(conflict.place): \(conflict.what)") }
      return
    }
    try StandardOutput.print {
      $0.field("conflicts", of: conflicts) { json, conflict in
        json.object {
          $0.field("place", conflict.place)
          $0.field("what", conflict.what)
        }
      }
    }
  }
}
