import ArgumentParser

/// The arguments of every command about its output.
struct OutputArguments: ParsableArguments {
  @Flag(help: "Print JSON for programs.")
  var json = false

  @Flag(name: .shortAndLong, help: "Write only errors and findings to standard error: no progress and no notes.")
  var quiet = false

  @OptionGroup(title: "Encrypted stores") var key: KeyArguments

  func validate() throws {
    if quiet { StandardError.silence() }
  }
}
