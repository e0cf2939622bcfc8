import ArgumentParser
import Foundation
import Persist

/// The arguments of every command about the key of an encrypted store. A key itself is never an argument, which other
/// users of the machine could read.
struct KeyArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A file with the store's passphrase; a line break at its end doesn't count.", valueName: "file"))
  var keyFile: String?

  @Option(help: ArgumentHelp("An environment variable with the store's passphrase.", valueName: "variable"))
  var keyEnv: String?

  @Flag(help: "The file contains a raw key of 32 bytes, or of 48 with the salt.")
  var rawKey = false

  /// The key of the stores that a command is about applies to the whole run.
  func validate() throws { try StoreEncryption.setForProgram(key()) }

  private func key() throws -> StoreEncryption.KeyProvider? {
    try KeySource(file: keyFile, variable: keyEnv, isRaw: rawKey, options: ("--key-file", "--key-env"))?.provider
  }
}

/// The place of a key.
struct KeySource {
  /// Reads the key for each connection.
  let provider: StoreEncryption.KeyProvider

  /// Nil if neither a file nor a variable is given.
  init?(file: String?, variable: String?, isRaw: Bool, options: (file: String, variable: String)) throws {
    switch (file, variable) {
    case (nil, nil):
      guard !isRaw else { throw ValidationError("A raw key is read from a file: add \(options.file).") }
      return nil
    case (_?, _?): throw ValidationError("Use either \(options.file) or \(options.variable).")
    case (let file?, nil):
      let url = URL(fileURLWithPath: file)
      provider = {
        var bytes: Data
        do {
          bytes = try Data(contentsOf: url)
        } catch {
          throw PersistenceError(
            .fileAccess, at: .file(url), "The key can't be read: \(error.localizedDescription)",
            fix: "Check the path and the permissions of the file.")
        }
        defer { bytes.resetBytes(in: bytes.startIndex..<bytes.endIndex) }
        if isRaw { return .raw(bytes) }
        while let last = bytes.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { bytes.removeLast() }
        return .passphrase(bytes)
      }
    case (nil, let name?):
      guard !isRaw else { throw ValidationError("A raw key is read from a file: use \(options.file).") }
      provider = {
        guard let text = getenv(name) else {
          throw PersistenceError(
            .wrongKey, "The environment has no variable '\(name)'.", fix: "Set it to the store's passphrase.")
        }
        return .passphrase(String(cString: text))
      }
    }
  }
}
