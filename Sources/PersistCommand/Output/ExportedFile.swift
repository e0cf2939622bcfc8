import Foundation
import Persist
import PersistInspection

/// A file that is written under another name first, so that it is complete or unchanged.
struct ExportedFile {
  private let url: URL
  private let draft: URL
  private let handle: FileHandle
  private var pending: [UInt8] = []
  private var line = JSONText()
  private static let pieceSize = 256 * 1024

  /// - Throws: `PersistenceError.Code.fileAccess`.
  private init(_ url: URL) throws {
    self.url = url
    guard !DatabaseHeader.isDatabase(url) else {
      throw PersistenceError(
        .fileAccess, at: .file(url), "The file is a database, and isn't replaced.",
        fix: "Choose another name.")
    }
    draft = url.deletingLastPathComponent()
      .appendingPathComponent(".\(url.lastPathComponent).\(UUID().uuidString.prefix(8))")
    do {
      try Data().write(to: draft, options: .withoutOverwriting)
      handle = try FileHandle(forWritingTo: draft)
    } catch {
      throw Self.failure(url, error)
    }
  }

  /// Writes a file completely, or discards it if `body` throws.
  static func write(to url: URL, _ body: (inout ExportedFile) throws -> Void) throws {
    var file = try ExportedFile(url)
    do {
      try body(&file)
      try file.finish()
    } catch {
      file.discard()
      throw error
    }
  }

  static func makeFolder(_ url: URL) throws {
    do {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    } catch {
      throw PersistenceError(
        .fileAccess, at: .file(url), "The folder can't be created: \(error.localizedDescription)")
    }
  }

  mutating func write(_ text: String) throws {
    pending.append(contentsOf: text.utf8)
    if pending.count >= Self.pieceSize { try flush() }
  }

  /// Writes a JSON value on a separate line.
  mutating func writeLine(_ body: (inout JSONText) throws -> Void) throws {
    line.reset()
    try body(&line)
    line.newLine()
    pending.append(contentsOf: line.bytes)
    if pending.count >= Self.pieceSize { try flush() }
  }

  private mutating func flush() throws {
    do { try handle.write(contentsOf: pending) } catch { throw Self.failure(url, error) }
    pending.removeAll(keepingCapacity: true)
  }

  /// Completes the file and gives it its name.
  private mutating func finish() throws {
    try flush()
    do {
      try handle.synchronize()
      try handle.close()
    } catch {
      throw Self.failure(url, error)
    }
    guard rename(draft.path, url.path) == 0 else {
      throw Self.failure(url, POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO))
    }
  }

  /// Deletes what was written. A draft that can't be deleted does no harm.
  private func discard() {
    try? handle.close()
    try? FileManager.default.removeItem(at: draft)
  }

  private static func failure(_ url: URL, _ error: any Error) -> PersistenceError {
    PersistenceError(
      .fileAccess, at: .file(url), "The file can't be written: \(error.localizedDescription)",
      fix: "Check the free disk space and the permissions of the folder.")
  }
}
