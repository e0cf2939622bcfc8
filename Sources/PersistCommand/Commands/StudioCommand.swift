import ArgumentParser
import Foundation
import Persist

/// `persist studio`: starts the program `persist-studio`, which serves a page for looking into a store.
///
/// The studio is a separate package, so that no other package depends on its HTTP server.
struct StudioCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "studio", abstract: "Look into a store in the browser; see 'persist studio --help'.",
    discussion: """
      Starts the program 'persist-studio' that is beside this one, or in a folder of PATH:

        persist studio Shop.sqlite [--models Models] [--write] [--port 8080]
      """,
    helpNames: [])

  static let program = "persist-studio"

  @Argument(parsing: .captureForPassthrough, help: "The arguments of persist-studio.")
  var arguments: [String] = []

  func run() throws {
    guard let url = Self.installed() else {
      throw PersistenceError(
        .fileAccess, "The program '\(Self.program)' isn't installed.",
        fix: "Build it in a checkout of Persist with 'swift build -c release --package-path Studio', and copy "
          + "'\(Self.program)' beside 'persist' or into a folder of PATH.")
    }
    try ProgramLaunch.run(url, arguments)
  }

  /// The studio beside this program, or else the first one in the folders of PATH.
  private static func installed() -> URL? {
    let own = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent()
    let named = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":").map {
      URL(fileURLWithPath: String($0), isDirectory: true)
    }
    return ([own].compactMap { $0 } + (named ?? [])).map { $0.appendingPathComponent(program) }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }
}
