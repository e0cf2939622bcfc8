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
      Prints an address to open in a browser on this machine:

        persist studio Shop.sqlite [--models Models] [--write] [--port 8080] [--key-file F | --key-env V]

      Starts the program 'persist-studio': the one beside this program, or in a folder of PATH. A 'persist' that was \
      built in a checkout of Persist builds the studio of the checkout, which takes some minutes the first time.
      """,
    helpNames: [])

  static let program = "persist-studio"

  @Argument(parsing: .captureForPassthrough, help: "The arguments of persist-studio.")
  var arguments: [String] = []

  func run() throws {
    let own = Bundle.main.executableURL?.resolvingSymlinksInPath()
    if let beside = own?.deletingLastPathComponent(), let url = ProgramLaunch.find(Self.program, in: [beside]) {
      try ProgramLaunch.run(url, arguments)
    }
    let installed = ProgramLaunch.find(Self.program)
    if let checkout = own.flatMap(StudioCheckout.init(containing:)) {
      if !checkout.isBuilt {
        if let installed, StudioCheckout.compiler == nil { try ProgramLaunch.run(installed, arguments) }
        // Nobody waits minutes for a help page or for a usage error.
        guard !arguments.contains("--help"), !arguments.contains("-h") else { throw CleanExit.helpRequest(self) }
        guard !arguments.isEmpty else { throw ValidationError("Missing expected argument '<store>'.") }
        try checkout.build()
      }
      try ProgramLaunch.run(checkout.program, arguments)
    }
    guard let installed else {
      throw PersistenceError(
        .fileAccess, "The program '\(Self.program)' isn't installed.",
        fix: "Run 'Scripts/install' in a checkout of Persist, which installs it beside 'persist'.")
    }
    try ProgramLaunch.run(installed, arguments)
  }
}
