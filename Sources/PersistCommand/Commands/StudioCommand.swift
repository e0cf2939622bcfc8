import ArgumentParser
import Foundation
import Persist

/// `persist studio`: starts a program that serves a page for looking into a store.
///
/// The studio's programs aren't part of this one, so that building the command line, which packages with generated
/// classes do, takes no longer because of them.
struct StudioCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "studio", abstract: "Look into a store in the browser: rows, objects, the model, migrations, changes.",
    discussion: """
      Prints an address to open in a browser on this machine. It contains a key; nobody without it can see the store. \
      Without --write, no byte of the store changes. Ends with Control-C.

        persist studio Shop.sqlite --models Models
        persist studio Shop.sqlite --write --port 8080

      Starts the program 'persist-studio', or 'persist-studio-postgresql' for a store on a server: the one beside this \
      program, or in a folder of PATH. A 'persist' that was built in a checkout of Persist first builds that of the \
      checkout, if it is missing or older than a source.
      """)

  @Argument(help: "The store: a file, or postgresql://USER@HOST/DATABASE?schema=NAME.")
  var store: String

  @Option(help: "A folder with models, or one model; by default the store's embedded model is used.")
  var models: String?

  @Flag(help: "Allow the page to change objects.")
  var write = false

  @Option(help: "The port; by default a free one.")
  var port: Int?

  @OptionGroup(title: "Encrypted stores") var key: KeyArguments

  func validate() throws {
    if let port, !(0...65535).contains(port) { throw ValidationError("--port is from 0 to 65535.") }
  }

  func run() throws {
    // A mistake in the arguments is reported before anything is built.
    _ = try PersistentStoreCoordinator.metadata(at: StoreArgument.url(store))
    let name = StoreArgument.isServer(store) ? "persist-studio-postgresql" : "persist-studio"
    let own = Bundle.main.executableURL?.resolvingSymlinksInPath()
    let beside = own.map { [$0.deletingLastPathComponent()] } ?? []
    let present = ProgramLaunch.find(name, in: beside + ProgramLaunch.searchPath)
    if let checkout = own.flatMap({ StudioCheckout(of: name, containing: $0) }), !checkout.isBuilt {
      if let present, StudioCheckout.compiler == nil { try ProgramLaunch.run(present, arguments) }
      try checkout.build()
      try ProgramLaunch.run(checkout.program, arguments)
    }
    guard let present else {
      throw PersistenceError(
        .fileAccess, "The program '\(name)' isn't installed.",
        fix: "Run 'Scripts/install' in a checkout of Persist, which installs it beside 'persist'.")
    }
    try ProgramLaunch.run(present, arguments)
  }

  /// The arguments of the studio's program.
  private var arguments: [String] {
    let values = [
      ("models", models), ("port", port.map(String.init)), ("key-file", key.keyFile), ("key-env", key.keyEnv),
    ]
    return values.compactMap { name, value in value.map { "--\(name)=\($0)" } }
      + (write ? ["--write"] : []) + (key.rawKey ? ["--raw-key"] : []) + ["--", store]
  }
}
