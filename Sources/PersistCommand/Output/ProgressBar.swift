import Foundation

/// A bar on standard error while long work runs, on a terminal only.
struct ProgressBar {
  private let label: String
  let isShown: Bool
  private var lastShown = ""
  private var lastTime: ContinuousClock.Instant?

  /// - Parameter besideOutput: whether the work writes to standard output meanwhile; where that is the terminal too,
  ///   there is no bar.
  init(_ label: String, besideOutput: Bool = false) {
    self.label = label
    isShown = StandardError.isTerminal && !(besideOutput && StandardOutput.isTerminal)
  }

  /// Shows a fraction from 0 to 1, at most twenty times a second.
  mutating func show(_ fraction: Double, detail: String = "") {
    guard isShown else { return }
    let now = ContinuousClock.now
    if fraction < 1, let lastTime, now - lastTime < .milliseconds(50) { return }
    let bounded = min(max(fraction, 0), 1)
    let width = Self.width
    // What is said beside the bar is worth more than its length.
    let length = min(max(width - 75, 10), 30)
    let filled = Int(bounded * Double(length))
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: length - filled)
    let text = String("\(label) \(bar) \(Int(bounded * 100)) % \(detail)".prefix(width - 1))
    guard text != lastShown else { return }
    StandardError.print("\r\u{1B}[2K\(text)", terminator: "")
    lastShown = text
    lastTime = now
  }

  /// How many characters a line of the terminal has; a longer text would leave lines behind.
  private static var width: Int {
    var size = winsize()
    guard ioctl(FileHandle.standardError.fileDescriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 1 else {
      return 80
    }
    return Int(size.ws_col)
  }

  /// Takes the bar away.
  mutating func finish() {
    guard isShown, !lastShown.isEmpty else { return }
    StandardError.print("\r\u{1B}[2K", terminator: "")
    lastShown = ""
  }
}
