package import Foundation
package import Persist

/// Adds a version to the files of a model.
package struct NewModelVersion {
  /// The location of the new version.
  package let url: URL
  package let name: String
  private let folder: URL
  /// Whether the folder is an `.xcdatamodeld`, which names its current version.
  private let isXcodeModel: Bool
  /// The content of `.xccurrentversion` before the version is written; nil if there is none.
  private let formerCurrent: Data?

  /// Prepares a version; nothing is written.
  ///
  /// - Parameters:
  ///   - name: the name, without extension.
  ///   - parent: the version whose files are the pattern for the new ones.
  ///   - family: the family of `parent`.
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if the name is in use or unsuitable, or if the model can't be
  ///   extended because it is compiled or written in code.
  package init(named name: String, after parent: ModelVersion, of family: ModelFamily) throws {
    let type = parent.url?.pathExtension.lowercased() ?? ""
    guard let source = parent.url, ["xcdatamodel", "json"].contains(type) else {
      throw PersistenceError(
        .invalidRequest, at: PersistenceError.Place(file: parent.url),
        "The model '\(family.name)' is compiled or written in code, and can't be extended.",
        fix: "Name the .xcdatamodeld, or the folder with Persist's model files.")
    }
    let stem = name.lowercased().hasSuffix(".\(type)") ? String(name.dropLast(type.count + 1)) : name
    guard !stem.isEmpty, !stem.hasPrefix("."), !stem.contains(where: { $0 == "/" || $0.isNewline }) else {
      throw PersistenceError(.invalidRequest, "'\(name)' can't be the name of a file.", fix: "Choose another name.")
    }
    self.name = stem
    folder = source.deletingLastPathComponent()
    isXcodeModel = folder.pathExtension.lowercased() == "xcdatamodeld"
    formerCurrent = try? Data(contentsOf: Self.currentFile(in: folder))
    url = folder.appendingPathComponent("\(stem).\(type)")
    let names = family.versionNames.map { $0.lowercased() }
    guard !names.contains(stem.lowercased()), !FileManager.default.fileExists(atPath: url.path) else {
      throw PersistenceError(
        .invalidRequest, at: .file(url), "The model already has a version '\(stem)'.", fix: "Choose another name.")
    }
  }

  /// Copies the parent's files, gives the copy the next version identifier, and makes it the current version.
  ///
  /// - Parameter contents: the text of the version's main file; nil for that of the parent.
  /// - Throws: ``PersistenceError/Code/fileAccess``; nothing is left behind then.
  package func write(after parent: ModelVersion, of family: ModelFamily, contents: String? = nil) throws {
    guard let source = parent.url else { return }
    let draft = folder.appendingPathComponent(".\(name).\(UUID().uuidString.prefix(8))")
    var written = draft
    do {
      try FileManager.default.copyItem(at: source, to: draft)
      let file = draft.isFolder ? draft.appendingPathComponent("contents") : draft
      let text = try contents ?? String(contentsOf: file, encoding: .utf8)
      try Data(Self.withIdentifier(text, after: parent, of: family).utf8).write(to: file)
      try FileManager.default.moveItem(at: draft, to: url)
      written = url
      if isXcodeModel { try Self.setCurrent("\(name).xcdatamodel", in: folder) }
    } catch {
      // A draft that can't be removed is hidden and no part of the model.
      try? FileManager.default.removeItem(at: written)
      throw error as? PersistenceError
        ?? PersistenceError(
          .fileAccess, at: .file(url), "The version can't be written: \(error.localizedDescription)",
          fix: "Check the permissions of the folder.")
    }
  }

  /// Deletes the files that ``write(after:of:contents:)`` created, and makes the former current version current again.
  package func discard() throws {
    try FileManager.default.removeItem(at: url)
    guard isXcodeModel else { return }
    let file = Self.currentFile(in: folder)
    if let formerCurrent {
      try formerCurrent.write(to: file, options: .atomic)
    } else {
      try FileManager.default.removeItem(at: file)
    }
  }

  private static func currentFile(in folder: URL) -> URL { folder.appendingPathComponent(".xccurrentversion") }

  /// Names the current version of an `.xcdatamodeld`, as Xcode does.
  private static func setCurrent(_ fileName: String, in folder: URL) throws {
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">
      <dict>
      \t<key>_XCCurrentVersionName</key>
      \t<string>\(fileName.escapedForMarkup)</string>
      </dict>
      </plist>

      """
    let file = currentFile(in: folder)
    do {
      try Data(text.utf8).write(to: file, options: .atomic)
    } catch {
      throw PersistenceError(
        .fileAccess, at: .file(file), "The current version can't be named: \(error.localizedDescription)")
    }
  }

  /// Replaces a whole number that identifies the parent by the next that no version has. Other identifiers stay, and so
  /// does a number if a version has the largest one.
  private static func withIdentifier(_ text: String, after parent: ModelVersion, of family: ModelFamily) -> String {
    guard parent.model.versionIdentifiers.count == 1, Int(parent.model.versionIdentifiers[0]) != nil else {
      return text
    }
    let numbers = family.versions.flatMap(\.model.versionIdentifiers).compactMap { Int($0) }
    let (next, hasOverflowed) = (numbers.max() ?? 0).addingReportingOverflow(1)
    guard !hasOverflowed else { return text }
    let xcode = /userDefinedModelVersionIdentifier="[^"]*"/
    let own = /"versionIdentifiers"\s*:\s*\[\s*"[^"]*"\s*\]/
    if let match = text.firstMatch(of: xcode) {
      return text.replacingCharacters(in: match.range, with: "userDefinedModelVersionIdentifier=\"\(next)\"")
    }
    guard let match = text.firstMatch(of: own) else { return text }
    return text.replacingCharacters(in: match.range, with: "\"versionIdentifiers\": [\"\(next)\"]")
  }
}
