package import Foundation

/// A date's day and time in UTC, for text in ISO 8601.
package struct DateParts {
  /// `2022-01-01`.
  package let day: Substring
  /// `12:30:00`, with microseconds if there is a fraction of a second.
  package let time: String
  /// Whether the text reads back to the same date.
  package let isExact: Bool

  package var iso8601: String { "\(day)T\(time)Z" }

  private static let style = Date.ISO8601FormatStyle().dateSeparator(.dash).dateTimeSeparator(.space)
    .timeSeparator(.colon)

  /// Returns nil outside the years for which calendars agree and whose number has four digits.
  package init?(_ date: Date) {
    let seconds = date.timeIntervalSinceReferenceDate
    guard seconds > -63_000_000_000, seconds < 252_000_000_000 else { return nil }
    let whole = seconds.rounded(.down)
    let words = Self.style.format(Date(timeIntervalSinceReferenceDate: whole)).split(separator: " ")
    guard words.count == 2 else { return nil }
    day = words[0]
    let wholeTime = words[1].prefix { $0 != "Z" }
    guard seconds != whole else {
      time = String(wholeTime)
      isExact = true
      return
    }
    let microseconds = min(999_999, Int(((seconds - whole) * 1_000_000).rounded()))
    let digits = String(microseconds)
    time = "\(wholeTime).\(String(repeating: "0", count: 6 - digits.count))\(digits)"
    // Computes the value as a reader of the text does.
    let read = whole + Double(microseconds) / 1_000_000
    isExact = read == seconds
  }
}
