import ArgumentParser
import Foundation
import Persist

/// A command as its help describes it.
struct CommandDescription: Decodable {
  /// An argument of a command.
  struct Argument: Decodable {
    enum Kind: String, Decodable {
      case positional, option, flag
    }

    struct Name: Decodable {
      enum Kind: String, Decodable {
        case long, short, longWithSingleDash
      }

      let kind: Kind
      let name: String

      /// The name with its dashes.
      var text: String { (kind == .long ? "--" : "-") + name }
    }

    let kind: Kind
    let shouldDisplay: Bool
    let isOptional: Bool
    let isRepeating: Bool
    let names: [Name]?
    let preferredName: Name?
    let valueName: String?
    let abstract: String?
    let discussion: String?
    let defaultValue: String?
  }

  let commandName: String
  let superCommands: [String]?
  let shouldDisplay: Bool?
  let abstract: String?
  let discussion: String?
  let arguments: [Argument]?
  let subcommands: [CommandDescription]?

  /// The words of a call: `persist sql status`.
  var words: [String] { (superCommands ?? []) + [commandName] }

  /// The whole program, as the argument parser describes it for such purposes.
  static func program() throws -> CommandDescription {
    struct Program: Decodable {
      let command: CommandDescription
    }
    do {
      _ = try PersistCommand.parseAsRoot(["--experimental-dump-help"])
    } catch {
      let text = PersistCommand.fullMessage(for: error)
      return try JSONDecoder().decode(Program.self, from: Data(text.utf8)).command
    }
    throw PersistenceError(.invalidRequest, "The argument parser doesn't describe the commands.")
  }
}
