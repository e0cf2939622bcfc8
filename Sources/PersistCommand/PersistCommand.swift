import ArgumentParser

/// The command line, `persist`.
@main
struct PersistCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "persist",
    abstract: "Looks into object stores, compares model versions and migrates.")
}
