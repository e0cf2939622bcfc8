import ArgumentParser
import Persist
import PersistInspection

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
    try KeySource(ofArguments: keyFile, keyEnv, isRaw: rawKey, named: ("--key-file", "--key-env"))?.provider
  }
}

extension KeySource {
  /// The source that arguments name, with errors for the parser.
  init?(
    ofArguments file: String?, _ variable: String?, isRaw: Bool, named options: (file: String, variable: String)
  ) throws {
    do {
      try self.init(file: file, variable: variable, isRaw: isRaw, options: options)
    } catch let error as PersistenceError {
      throw ValidationError(error.message)
    }
  }
}
