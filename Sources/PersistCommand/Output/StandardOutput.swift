import Foundation
import Persist

/// Standard output in large pieces.
struct StandardOutput {
  private var pending: [UInt8] = []
  private let pieceSize = 256 * 1024

  mutating func write(_ text: String) throws {
    pending.append(contentsOf: text.utf8)
    if pending.count >= pieceSize { try flush() }
  }

  mutating func write(_ json: JSONText) throws {
    pending.append(contentsOf: json.bytes)
    if pending.count >= pieceSize { try flush() }
  }

  /// - Throws: ``PersistenceError/Code/fileAccess`` where the output takes no more, as on a full disk.
  mutating func flush() throws {
    defer { pending.removeAll(keepingCapacity: true) }
    do {
      try FileHandle.standardOutput.write(contentsOf: pending)
    } catch {
      throw PersistenceError(.fileAccess, "Standard output can't be written: \(error.localizedDescription)")
    }
  }

  static var isTerminal: Bool { isatty(FileHandle.standardOutput.fileDescriptor) == 1 }

  /// Writes one text at once.
  static func print(_ text: String) throws {
    var output = StandardOutput()
    try output.write(text + "\n")
    try output.flush()
  }

  /// Writes one JSON text at once, on a line of its own.
  static func print(_ body: (inout JSONText) throws -> Void) throws {
    var json = JSONText()
    try json.object(body)
    json.newLine()
    var output = StandardOutput()
    try output.write(json)
    try output.flush()
  }
}

/// Messages and progress for people, on standard error.
enum StandardError {
  static func print(_ text: String, terminator: String = "\n") {
    // A message that can't be shown is no reason to fail.
    try? FileHandle.standardError.write(contentsOf: Data((text + terminator).utf8))
  }

  static var isTerminal: Bool { isatty(FileHandle.standardError.fileDescriptor) == 1 }
}
