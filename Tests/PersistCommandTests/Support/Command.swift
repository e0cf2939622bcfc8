import Foundation
import PersistTestSupport

/// Runs the built command line, `persist`, as a separate process.
enum Command {
  /// The results of a run.
  struct Outcome: Sendable {
    let status: Int32
    let output: String
    let messages: String

    /// The output as one JSON value.
    func json() throws -> NSDictionary {
      guard let value = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? NSDictionary else {
        throw CocoaError(.propertyListReadCorrupt)
      }
      return value
    }

    /// The output as one JSON value for each line.
    func jsonLines() throws -> [NSDictionary] {
      try output.split(separator: "\n").map { line in
        guard let value = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary else {
          throw CocoaError(.propertyListReadCorrupt)
        }
        return value
      }
    }
  }

  /// - Parameters:
  ///   - program: Another program of the package.
  ///   - folder: The working folder; nil for that of the tests.
  ///   - environment: Variables in addition to those of the tests.
  /// - Throws: if it takes longer than twenty minutes, which no command does on any machine.
  static func run(
    _ arguments: [String], of program: String = "persist", in folder: URL? = nil, environment: [String: String] = [:]
  ) throws -> Outcome {
    let arguments = program == "persist" ? keyed(arguments) : arguments
    return try run(arguments, program: BuiltProgram.url(program), in: folder, environment: environment)
  }

  /// The arguments of `persist`, with the place of the run's key if it has one and the arguments name none.
  static func keyed(_ arguments: [String]) -> [String] {
    let isWithoutStore = arguments.count < 2 || arguments.contains { ["--help", "-h", "--"].contains($0) }
    guard TestKey.isUsed, !isWithoutStore, !["manual", "help"].contains(arguments[0]),
      !arguments.contains(where: { ["--key-file", "--key-env"].contains($0) })
    else { return arguments }
    return arguments + keyOptions
  }

  private static var keyOptions: [String] { TestKey.isUsed ? ["--key-env", TestKey.variable] : [] }

  /// The options with the run's key, for a command in a shell's script.
  static var keyWords: String { keyOptions.joined(separator: " ") }

  /// Runs SQL, or statements of the command itself, on a store by SQLite's command, or by SQLCipher's in a run with a
  /// key.
  static func sqlite3(_ store: String, _ sql: String) throws -> Outcome {
    guard let passphrase = TestKey.passphrase else {
      return try run(["sqlite3", store, sql], program: URL(fileURLWithPath: "/usr/bin/env"))
    }
    guard let tool = TestKey.tool else { throw CocoaError(.fileNoSuchFile) }
    // The answer to the key isn't part of the output.
    let unlocking = [".output /dev/null", "PRAGMA key = \"\(passphrase)\"", ".output stdout"]
    return try run(unlocking.flatMap { ["-cmd", $0] } + [store, sql], program: tool)
  }

  /// - Parameter program: The file of any program.
  static func run(
    _ arguments: [String], program: URL, in folder: URL? = nil, environment: [String: String] = [:]
  ) throws -> Outcome {
    let process = TestRun.newProcess()
    process.executableURL = program
    if let folder { process.currentDirectoryURL = folder }
    process.arguments = arguments
    process.environment?.merge(environment) { $1 }
    // Files, because a pipe that isn't drained would block a long output.
    return try withTemporaryFolder { folder in
      let output = folder.appendingPathComponent("out")
      let messages = folder.appendingPathComponent("err")
      for file in [output, messages] { try Data().write(to: file) }
      let outputHandle = try FileHandle(forWritingTo: output)
      let messagesHandle = try FileHandle(forWritingTo: messages)
      process.standardOutput = outputHandle
      process.standardError = messagesHandle
      process.standardInput = FileHandle.nullDevice
      try process.run()
      try process.waitUntilExit(
        within: .seconds(1200), reporting: LongLoop(([program.lastPathComponent] + arguments.prefix(2)).joined(separator: " ")))
      try outputHandle.close()
      try messagesHandle.close()
      return try Outcome(
        status: process.terminationStatus, output: String(contentsOf: output, encoding: .utf8),
        messages: String(contentsOf: messages, encoding: .utf8))
    }
  }

  static func run(_ arguments: String...) throws -> Outcome { try run(arguments) }
}
