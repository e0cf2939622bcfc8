public import Foundation
import Persist

extension ModelLock {
  /// The file's content: the format version, then models, versions and entities by name.
  private struct Content: Codable {
    var format = 1
    var models: [String: [String: [String: String]]] = [:]
  }

  /// Reads a lock.
  ///
  /// - Throws: `PersistenceError.Code.fileAccess` if there is none,
  ///   `PersistenceError.Code.malformedFile` if it can't be read.
  public init(contentsOf url: URL) throws {
    let data: Data
    do {
      data = try Data(contentsOf: url)
    } catch {
      throw PersistenceError(
        .fileAccess, at: .file(url), "The lock can't be read: \(error.localizedDescription)",
        fix: "Create it with: persist lock MODELS.")
    }
    let content: Content
    do {
      content = try JSONDecoder().decode(Content.self, from: data)
    } catch {
      throw PersistenceError(
        .malformedFile, at: .file(url), "This isn't a lock of models: \(error)",
        fix: "Restore it from version control.")
    }
    guard content.format == 1 else {
      throw PersistenceError(
        .malformedFile, at: .file(url), "The lock has format \(content.format), written by a newer version of Persist.",
        fix: "Use that version of Persist.")
    }
    self.init()
    for (model, versions) in content.models {
      for (name, entities) in versions { fingerprints[Version(model: model, name: name)] = entities }
    }
  }

  /// Writes the lock, sorted and with one line for each entity: adding a version changes no other lines.
  ///
  /// - Throws: `PersistenceError.Code.fileAccess`.
  public func write(to url: URL) throws {
    var content = Content()
    for (version, entities) in fingerprints { content.models[version.model, default: [:]][version.name] = entities }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do {
      try (encoder.encode(content) + Data("\n".utf8)).write(to: url, options: .atomic)
    } catch {
      throw PersistenceError(
        .fileAccess, at: .file(url), "The lock can't be written: \(error.localizedDescription)",
        fix: "Check the permissions of its folder.")
    }
  }
}
