import Foundation
import Persist

/// Buffered standard output.
struct StandardOutput {
  private var pending: [UInt8] = []
  /// The line of JSON being written; its memory is reused for each line.
  private var line = JSONText()
  private let pieceSize = 256 * 1024

  mutating func write(_ text: String) throws {
    pending.append(contentsOf: text.utf8)
    if pending.count >= pieceSize { try flush() }
  }

  mutating func write(_ json: JSONText) throws {
    pending.append(contentsOf: json.bytes)
    if pending.count >= pieceSize { try flush() }
  }

  /// Writes a JSON value on a separate line.
  mutating func writeLine(_ body: (inout JSONText) throws -> Void) throws {
    line.reset()
    try body(&line)
    line.newLine()
    try write(line)
  }

  /// - Throws: `PersistenceError.Code.fileAccess` if the output can't be written, as on a full disk.
  mutating func flush() throws {
    defer { pending.removeAll(keepingCapacity: true) }
    do {
      try FileHandle.standardOutput.write(contentsOf: pending)
    } catch {
      throw PersistenceError(.fileAccess, "Standard output can't be written: \(error.localizedDescription)")
    }
  }

  static var isTerminal: Bool { Terminal.output.isPresent }

  /// The number of characters in a line of the terminal; nil if the output goes elsewhere.
  static var width: Int? { isTerminal ? Terminal.output.width : nil }

  /// Writes a text immediately. A terminal gets lines that fit.
  static func print(_ text: String) throws {
    var output = StandardOutput()
    try output.write((width.map { LineWrapping.wrapped(text, width: $0) } ?? text) + "\n")
    try output.flush()
  }

  /// Writes a JSON object immediately, on a separate line.
  static func print(_ body: (inout JSONText) throws -> Void) throws {
    var output = StandardOutput()
    try output.writeLine { try $0.object(body) }
    try output.flush()
  }
}

/// Human-readable messages and progress on standard error.
enum StandardError {
  private static let isSilent = LockProtected(false)

  /// Suppresses notes and progress from now on.
  static func silence() { isSilent.withLock { $0 = true } }

  /// Prints a note, or progress; see ``printError(_:)``.
  static func print(_ text: String, terminator: String = "\n") {
    guard !isSilent.withLock({ $0 }) else { return }
    // Progress must fit into its line.
    write(terminator == "\n" ? fitting(text) : text, terminator: terminator)
  }

  /// The text in lines that fit into the terminal, if there is one.
  private static func fitting(_ text: String) -> String {
    isTerminal ? LineWrapping.wrapped(text, width: Terminal.error.width) : text
  }

  /// Prints the reason for which the command fails, without passwords that an argument contains.
  static func printError(_ text: String) {
    let text = fitting(StoreArgument.withoutPasswords(text))
    let name = "persist:"
    guard text.hasPrefix(name), TerminalStyle.areShown(isTerminal: isTerminal) else {
      return write(text, terminator: "\n")
    }
    write(TerminalStyle.error.applied(to: name, isShown: true) + text.dropFirst(name.count), terminator: "\n")
  }

  private static func write(_ text: String, terminator: String) {
    // Failing to show a message doesn't fail the command.
    try? FileHandle.standardError.write(contentsOf: Data((text + terminator).utf8))
  }

  static var isTerminal: Bool { Terminal.error.isPresent }
}
