import ArgumentParser
import Foundation
import Persist

/// `persist studio`: starts the program `persist-studio`, which serves a page for looking into a store.
///
/// The studio is a program of its own, so that building the command line, which packages with generated classes do,
/// takes no longer because of it.
struct StudioCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "studio", abstract: "Look into a store in the browser; see 'persist studio --help'.",
    discussion: """
      Prints an address to open in a browser on this machine:

        persist studio Shop.sqlite [--models Models] [--write] [--port 8080] [--key-file F | --key-env V]

      Starts the program 'persist-studio': the one beside this program, or in a folder of PATH. A 'persist' that was \
      built in a checkout of Persist first builds the studio of the checkout, if it is missing or older than a source.
      """,
    helpNames: [])

  static let program = "persist-studio"

  @Argument(parsing: .captureForPassthrough, help: "The arguments of persist-studio.")
  var arguments: [String] = []

  func run() throws {
    let own = Bundle.main.executableURL?.resolvingSymlinksInPath()
    let beside = own.map { [$0.deletingLastPathComponent()] } ?? []
    let present = ProgramLaunch.find(Self.program, in: beside + ProgramLaunch.searchPath)
    if let checkout = own.flatMap(StudioCheckout.init(containing:)), !checkout.isBuilt {
      if let present, StudioCheckout.compiler == nil { try ProgramLaunch.run(present, arguments) }
      // Nobody waits for a help page or for a usage error.
      guard !arguments.contains("--help"), !arguments.contains("-h") else { throw CleanExit.helpRequest(self) }
      guard !arguments.isEmpty else { throw ValidationError("Missing expected argument '<store>'.") }
      try checkout.build()
      try ProgramLaunch.run(checkout.program, arguments)
    }
    guard let present else {
      throw PersistenceError(
        .fileAccess, "The program '\(Self.program)' isn't installed.",
        fix: "Run 'Scripts/install' in a checkout of Persist, which installs it beside 'persist'.")
    }
    try ProgramLaunch.run(present, arguments)
  }
}
