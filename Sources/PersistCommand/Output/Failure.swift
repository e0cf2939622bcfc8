import ArgumentParser
import Foundation
import Persist

/// Exit statuses and error reports of the program.
enum Failure {
  /// The work failed.
  static let work: Int32 = 1
  /// The command line was invalid.
  static let usage: Int32 = 2
  /// A command found what it was asked to look for.
  static let found = ExitCode(3)

  /// Reports an error and returns its exit status.
  ///
  /// - Parameters:
  ///   - command: the command that was called.
  ///   - asJSON: whether `--json` was given; the error is then written to standard output too.
  static func report(_ error: any Error, of command: any ParsableCommand.Type, asJSON: Bool) -> Int32 {
    if let code = error as? ExitCode { return code.rawValue }
    // Thrown after parsing, it would be printed with the usage of the whole program instead of the command's.
    if let error = error as? ValidationError {
      StandardError.printError("Error: \(error.message)\nUsage: \(PersistCommand.usageString(for: command))")
      return usage
    }
    if let model = error as? UnusableModel {
      report(work: model.error, as: model.text, asJSON: asJSON)
      return work
    }
    guard isFromParser(error) else {
      let failure = persistError(for: error).advisingCommand
      report(work: failure, as: "persist: \(failure.withoutInternalSQL)", asJSON: asJSON)
      return work
    }
    let isHelp = PersistCommand.exitCode(for: error) == .success
    var message = PersistCommand.fullMessage(for: error)
    let commands = ["fetch", "count", "explain"].map(Optional.some)
    if commands.contains(CommandLine.arguments.dropFirst().first),
      message.lowercased().contains("unexpected argument")
    {
      message += "\n  A request is one argument: write it in quotation marks."
    }
    if isHelp { print(message) } else { StandardError.printError(message) }
    return isHelp ? 0 : usage
  }

  /// Reports that a call names a group of commands, but none of them, and returns the exit status.
  ///
  /// The parser would show the help too, as if it had been requested.
  static func report(missingCommandOf group: any ParsableCommand.Type) -> Int32 {
    StandardError.printError(PersistCommand.helpMessage(for: group))
    return usage
  }

  private static func report(work error: PersistenceError, as text: String, asJSON: Bool) {
    StandardError.printError(text)
    guard asJSON else { return }
    try? StandardOutput.print { json in
      json.key("error")
      json.object {
        $0.field("code", error.code.rawValue)
        $0.field("name", error.code.name)
        let errors = error.withoutInternalSQL.errorsAdvisingOnce.map(\.description)
        $0.field("message", StoreArgument.withoutPasswords(([error.fullMessage] + errors).joined(separator: "\n")))
        $0.field("fix", error.fix)
      }
    }
  }

  private static func persistError(for error: any Error) -> PersistenceError {
    if let error = error as? PersistenceError { return error }
    let file = (error as NSError).userInfo[NSFilePathErrorKey] as? String
    return PersistenceError(
      .fileAccess, at: PersistenceError.Place(file: file.map { URL(fileURLWithPath: $0) }), error.localizedDescription)
  }

  /// Whether the argument parser threw the error: wrong arguments, or a request for help.
  private static func isFromParser(_ error: any Error) -> Bool {
    if error is PersistenceError || error is UnusableModel { return false }
    if error is CleanExit { return true }
    // The parser's own type for wrong arguments isn't public, but no other error has the usage exit code.
    return PersistCommand.exitCode(for: error) == .validationFailure || PersistCommand.exitCode(for: error) == .success
  }
}

extension PersistenceError {
  /// The same error without the SQL that Persist ran, for users of a store. SQL from a file of the user's own stays.
  fileprivate var withoutInternalSQL: PersistenceError {
    var error = self
    if place.file == nil { error.place.sql = nil }
    error.errors = errors.map(\.withoutInternalSQL)
    return error
  }
}
