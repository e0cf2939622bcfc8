import ArgumentParser
import Foundation
import Persist
import PersistInspection
import PersistTools

/// `persist rekey`: changes the key of an encrypted store.
struct RekeyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rekey", abstract: "Change the key of an encrypted store, in place.",
    discussion: """
      If the program is killed, the store has either the old key or the new one. Nobody else may have the store open. \
      Copies and backups keep their key.

        persist rekey Shop.sqlite --key-file old.key --new-key-file new.key

      A plain store is encrypted by copying it: see 'persist help copy'.
      """)

  @Argument(help: "The file of the store.")
  var store: String

  @OptionGroup var newKey: NewKeyArguments

  @OptionGroup var common: OutputArguments

  func run() throws {
    guard let old = StoreEncryption.keyOfProgram else {
      throw ValidationError("Name the present key with --key-file or --key-env.")
    }
    guard let new = try newKey.source() else {
      throw ValidationError("Name the new key with --new-key-file or --new-key-env.")
    }
    let url = try StoreArgument.file(store, "A store")
    try StoreLocation(url).changeKey(from: old, to: new.provider)
    if common.json {
      try StandardOutput.print { $0.field("store", url.path) }
    } else {
      try StandardOutput.print("'\(url.lastPathComponent)' has the new key.")
    }
  }
}

/// The arguments of commands that give a store another key.
struct NewKeyArguments: ParsableArguments {
  @Option(help: ArgumentHelp("A file with the new passphrase.", valueName: "file"))
  var newKeyFile: String?

  @Option(help: ArgumentHelp("An environment variable with the new passphrase.", valueName: "variable"))
  var newKeyEnv: String?

  @Flag(help: "The file contains a raw key of 32 bytes, or of 48 with the salt.")
  var newRawKey = false

  func source() throws -> KeySource? {
    try KeySource(
      ofArguments: newKeyFile, newKeyEnv, isRaw: newRawKey, named: ("--new-key-file", "--new-key-env"))
  }
}
