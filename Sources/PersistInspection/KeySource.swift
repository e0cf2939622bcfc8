import Foundation
public import Persist

/// The place of a key that the arguments of a program name: a file or an environment variable, never the key itself,
/// which other users of the machine could read.
public struct KeySource: Sendable {
  /// Reads the key for each connection.
  public let provider: StoreEncryption.KeyProvider

  /// Returns nil if neither a file nor a variable is given.
  ///
  /// - Parameters:
  ///   - file: The path of a file with the passphrase; a line break at its end doesn't count.
  ///   - variable: The name of an environment variable with the passphrase.
  ///   - isRaw: Whether the file contains the bytes of a raw key.
  ///   - options: The names of the options, for errors.
  /// - Throws: `PersistenceError.Code.invalidRequest` for a contradiction.
  public init?(
    file: String?, variable: String?, isRaw: Bool, options: (file: String, variable: String)
  ) throws {
    switch (file, variable) {
    case (nil, nil):
      guard !isRaw else {
        throw PersistenceError(.invalidRequest, "A raw key is read from a file: add \(options.file).")
      }
      return nil
    case (_?, _?): throw PersistenceError(.invalidRequest, "Use either \(options.file) or \(options.variable).")
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
      guard !isRaw else {
        throw PersistenceError(.invalidRequest, "A raw key is read from a file: use \(options.file).")
      }
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
