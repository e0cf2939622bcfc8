public import Foundation
import Persist

extension ModelLock {
  /// The content of a file of format 1: the format, then models, versions and entities by name.
  private struct FormerContent: Codable {
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
    self.init()
    if data.first == UInt8(ascii: "{") { try read(former: data, url) } else { try read(lines: data, url) }
  }

  private mutating func read(former data: Data, _ url: URL) throws {
    let content: FormerContent
    do {
      content = try JSONDecoder().decode(FormerContent.self, from: data)
    } catch {
      throw PersistenceError(
        .malformedFile, at: .file(url), "This isn't a lock of models: \(error)",
        fix: "Restore it from version control.")
    }
    guard content.format == 1 else { throw Self.newer("\(content.format)", url) }
    for (model, versions) in content.models {
      for (name, entities) in versions { fingerprints[Version(model: model, name: name)] = entities }
    }
  }

  private static func newer(_ format: String, _ url: URL) -> PersistenceError {
    PersistenceError(
      .malformedFile, at: .file(url), "The lock has format \(format), written by a newer version of Persist.",
      fix: "Use that version of Persist.")
  }

  // MARK: Lines

  // Each line is a list of texts that is complete in itself, so that the lines of two branches can be combined in any
  // order.
  private static let header = ["persist lock", "2"]

  private mutating func read(lines data: Data, _ url: URL) throws {
    let decoder = JSONDecoder()
    var isLock = false
    // Bytes, because the line ends that git writes with core.autocrlf are single characters, "\r\n".
    let lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.lazy.map({ String(decoding: $0, as: UTF8.self) }).enumerated()
    where !line.allSatisfy(\.isWhitespace) {
      let place = PersistenceError.Place.file(url, line: index + 1)
      guard !["<<<<<<<", "=======", ">>>>>>>", "|||||||"].contains(where: line.hasPrefix) else {
        throw PersistenceError(
          .malformedFile, at: place, "The lock contains a merge conflict.",
          fix: "Keep the lines of both sides, in any order. The line '\(Self.fileName) merge=union' in .gitattributes "
            + "makes git keep both.")
      }
      guard let words = try? decoder.decode([String].self, from: Data(line.utf8)) else {
        throw PersistenceError(
          .malformedFile, at: place, "This isn't a line of a lock of models.",
          fix: "Restore it from version control.")
      }
      if words.first == Self.header[0] {
        guard words == Self.header else { throw Self.newer(words.dropFirst().joined(), url) }
        isLock = true
      } else {
        try read(words, place)
      }
    }
    guard isLock else {
      throw PersistenceError(
        .malformedFile, at: .file(url), "This isn't a lock of models.", fix: "Restore it from version control.")
    }
  }

  private mutating func read(_ words: [String], _ place: PersistenceError.Place) throws {
    switch (words.first, words.count) {
    case ("version", 3):
      fingerprints[Version(model: words[1], name: words[2]), default: [:]].merge([:]) { $1 }
    case ("entity", 5):
      let version = Version(model: words[1], name: words[2])
      if let other = fingerprints[version]?.updateValue(words[4], forKey: words[3]) {
        guard other == words[4] else {
          throw PersistenceError(
            .malformedFile, at: place,
            "Two branches have locked the version '\(version.name)' of '\(version.model)' in different forms.",
            fix: "Rename one of the two versions, and remove the lines of the other.")
        }
      } else if fingerprints[version] == nil {
        fingerprints[version] = [words[3]: words[4]]
      }
    case ("parent", 4):
      parents[Version(model: words[1], name: words[2]), default: []].insert(words[3])
    default:
      throw PersistenceError(
        .malformedFile, at: place, "This isn't a line of a lock of models.", fix: "Restore it from version control.")
    }
  }

  /// Writes the lock, sorted and with one line for each entity and each parent: adding a version changes no other
  /// lines, and the lines of two branches can be combined in any order.
  ///
  /// - Throws: `PersistenceError.Code.fileAccess`.
  public func write(to url: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    do {
      var text = Data()
      for line in lines {
        text += try encoder.encode(line)
        text.append(UInt8(ascii: "\n"))
      }
      try text.write(to: url, options: .atomic)
    } catch {
      throw PersistenceError(
        .fileAccess, at: .file(url), "The lock can't be written: \(error.localizedDescription)",
        fix: "Check the permissions of its folder.")
    }
  }

  private var lines: [[String]] {
    var lines = [Self.header]
    for version in Set(fingerprints.keys).union(parents.keys).sorted() {
      for parent in (parents[version] ?? []).sorted() { lines.append(["parent", version.model, version.name, parent]) }
      guard let entities = fingerprints[version] else { continue }
      lines.append(["version", version.model, version.name])
      for (name, fingerprint) in entities.sorted(by: { $0.key < $1.key }) {
        lines.append(["entity", version.model, version.name, name, fingerprint])
      }
    }
    return lines
  }
}
