import Foundation

extension Date {
  /// The date's description, or its seconds if it is far from now: Foundation traps when describing such a date.
  var descriptionOrSeconds: String {
    let seconds = timeIntervalSinceReferenceDate
    return abs(seconds) < 1e11 ? description : "\(seconds) s after 2001"
  }
}
