import Foundation

/// Paths on a terminal that open the file when they are clicked.
enum TerminalLink {
  /// The path of a file, as a link if standard output is a terminal that shows links.
  static func path(_ file: URL) -> String {
    path(file, isShown: areShown(isTerminal: StandardOutput.isTerminal))
  }

  static func path(_ file: URL, isShown: Bool) -> String {
    isShown ? "\u{1B}]8;;\(file.absoluteURL.absoluteString)\u{1B}\\\(file.path)\u{1B}]8;;\u{1B}\\" : file.path
  }

  /// Whether a terminal shows links: those that are known to, unless `NO_COLOR` is set. Others may print the codes.
  static func areShown(
    isTerminal: Bool, environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> Bool {
    guard TerminalStyle.areShown(isTerminal: isTerminal, environment: environment) else { return false }
    let programs: Set<String> = ["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby"]
    if let program = environment["TERM_PROGRAM"], programs.contains(program) { return true }
    // Terminals on GNOME's library show links since its version 0.50.
    if let version = environment["VTE_VERSION"].flatMap({ Int($0) }), version >= 5000 { return true }
    return ["KITTY_WINDOW_ID", "WT_SESSION", "DOMTERM", "KONSOLE_VERSION"].contains { environment[$0] != nil }
  }
}
