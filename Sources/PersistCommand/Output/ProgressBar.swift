import Foundation

/// A progress bar on standard error, shown only on a terminal.
struct ProgressBar {
  private let label: String
  let isShown: Bool
  private var lastShown = ""
  private var lastTime: ContinuousClock.Instant?

  /// - Parameters:
  ///   - label: the text before the bar.
  ///   - besideOutput: whether the work also writes to standard output; if that is a terminal too, no bar is shown.
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
    // Longer text would wrap and leave lines behind.
    let width = Terminal.error.width
    // The text beside the bar is more important than the bar's length.
    let length = min(max(width - 75, 10), 30)
    let filled = Int(bounded * Double(length))
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: length - filled)
    let text = String("\(label) \(bar) \(Int(bounded * 100)) % \(detail)".prefix(width - 1))
    guard text != lastShown else { return }
    StandardError.print("\r\u{1B}[2K\(text)", terminator: "")
    lastShown = text
    lastTime = now
  }

  /// Erases the bar.
  mutating func finish() {
    guard isShown, !lastShown.isEmpty else { return }
    StandardError.print("\r\u{1B}[2K", terminator: "")
    lastShown = ""
  }
}
