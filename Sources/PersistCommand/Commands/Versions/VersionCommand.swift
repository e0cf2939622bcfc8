import ArgumentParser
import Foundation
import Persist
import PersistTools
import PersistInspection
import PersistTesting

/// `persist version`: starts versions of models.
struct VersionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "version", abstract: "Start a new version of a model.", subcommands: [VersionNewCommand.self])
}

/// `persist version new`: copies the current version under a new name, and makes the copy the current one.
struct VersionNewCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new", abstract: "Copy the current version under a new name, and make the copy the current one.",
    discussion: """
      In an .xcdatamodeld, '.xccurrentversion' names the copy. A version identifier that is a whole number is replaced \
      by the next free one. The lock beside the models records the version that the copy grew from.
      """)

  @Argument(help: "A model, or a folder with one model.")
  var models: String

  @Argument(help: "The name of the new version.")
  var name: String

  @Option(help: "The version to copy; by default the current one.")
  var from: String?

  @OptionGroup var common: OutputArguments

  private var json: Bool { common.json }

  func run() throws {
    let folder = try ModelLock.models(at: models)
    let registry = try ModelRegistry(contentsOf: folder)
    let family = try registry.onlyFamily(of: models)
    // A lock that can't be read is an error before anything is written.
    _ = try ModelLock.ifPresent(forModelsAt: folder)
    let parent = try from.map { try registry.version(named: $0) } ?? family.current
    let new = try NewModelVersion(named: name, after: parent, of: family)
    try new.write(after: parent, of: family)
    do {
      try requireCurrent(new, of: family)
      try ModelLock.record([parent.name], asParentsOf: new.name, of: family.name, forModelsAt: folder)
    } catch {
      try new.discard()
      throw error
    }
    if json {
      try StandardOutput.print {
        $0.field("family", family.name)
        $0.field("version", new.name)
        $0.field("parents", strings: [parent.name])
        $0.field("file", new.url.path)
      }
    } else {
      let file = TerminalLink.path(new.url)
      try StandardOutput.print("'\(new.name)' is a copy of '\(parent.name)' and the current version: \(file)")
    }
  }

  /// Reads the model again. Single files belong to one model, and the last is the current version, only if their names
  /// say so.
  private func requireCurrent(_ new: NewModelVersion, of family: ModelFamily) throws {
    let folder = new.url.deletingLastPathComponent()
    let after = try ModelRegistry(contentsOf: folder, needsCurrent: false)
    let found = after.families.first { $0.versionNames.contains(new.name) }
    guard let found, found.current.name == new.name, family.versionNames.allSatisfy(found.versionNames.contains) else {
      throw PersistenceError(
        .invalidRequest, at: .file(new.url),
        "Under the name '\(new.name)', the file wouldn't be the current version of '\(family.name)'.",
        fix: "Give it the name of the model and the next number, such as "
          + "'\(family.name) \(family.versionNames.count + 1)'.")
    }
  }
}

extension ModelLock {
  /// Returns the location of models whose versions have a lock.
  ///
  /// - Parameter path: the command-line argument.
  /// - Throws: `PersistenceError.Code.invalidRequest` for one version inside a model, because all share the lock.
  static func models(at path: String) throws -> URL {
    let url = try ModelRegistry.url(of: path)
    let named = url.absoluteURL
    let version = named.lastPathComponent == "contents" ? named.deletingLastPathComponent() : named
    let model = version.deletingLastPathComponent()
    guard ["xcdatamodeld", "momd"].contains(model.pathExtension.lowercased()) else { return url }
    throw PersistenceError(
      .invalidRequest, at: .file(version), "This is one version of the model '\(model.lastPathComponent)'.",
      fix: "Name the model, '\(model.path)'.")
  }

  /// Records the parents of a version in the lock beside the models, which is created if there is none.
  static func record(
    _ parents: [String], asParentsOf version: String, of model: String, forModelsAt folder: URL
  ) throws {
    var lock = try ifPresent(forModelsAt: folder) ?? ModelLock()
    lock.setParents(parents, of: Version(model: model, name: version))
    try lock.write(to: url(forModelsAt: folder))
  }
}
