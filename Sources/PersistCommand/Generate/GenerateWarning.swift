import Foundation

/// Something in a model that generated Swift can't say as it is, with where it stands.
struct GenerateWarning: Hashable {
  let file: URL?
  let line: Int?
  let message: String

  /// In the form that Xcode and Swift's build read: `file:line: warning: message`.
  var text: String {
    let place = file.map { line == nil ? "\($0.path): " : "\($0.path):\(line ?? 1): " } ?? ""
    return "\(place)warning: \(message)"
  }
}
