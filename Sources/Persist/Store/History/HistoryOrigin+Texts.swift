import Foundation

extension HistoryOrigin {
  /// A text that describes who wrote a transaction; nil if it isn't known.
  package func value(of text: HistoryLayout.Text) -> String? {
    switch text {
    case .author: author
    case .contextName: contextName
    case .bundleID: Self.bundleID
    case .processID: Self.processID
    }
  }

  private static let bundleID = Bundle.main.bundleIdentifier
  private static let processID = ProcessInfo.processInfo.processName
}
